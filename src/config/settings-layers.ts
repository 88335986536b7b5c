/**
 * Where settings come from, weakest first:
 *
 *   defaults < user < project < local < environment < flags < managed policy
 *
 * User settings are `~/.claude/settings.json` and then SKEIN_HOME's; project settings are those of
 * `.claude` and then `.skein`, for each folder of the workspace. Each source becomes a layer;
 * merging them is merge-settings.ts.
 */
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../protocol/errors.js';
import type { SettingSource } from '../protocol/permission.js';
import { environmentValues } from './environment-settings.js';
import { flagValues, type SettingsFlags } from './flag-settings.js';
import { type ProjectFile, projectFiles } from './project-files.js';
import { type JsonObject, parseSettingsText, readSettingsFile } from './settings-file.js';
import { readSettings, type SettingsValues } from './settings-schema.js';
import type { Surroundings } from './surroundings.js';
import type { Workspace } from './workspace-root.js';

export type LayerSource = 'environment' | Exclude<SettingSource, 'session'>;

export interface Layer {
  readonly source: LayerSource;
  /** The file, or undefined for flags and the environment. */
  readonly file?: string;
  /** Where relative directories of this layer start. */
  readonly base: string;
  readonly values: SettingsValues;
}

export interface LayerSources extends Surroundings {
  readonly skeinHome: string;
  readonly workspace: Workspace;
  readonly flags: SettingsFlags;
  /** Files of the managed policy, weakest first. */
  readonly managedFiles: readonly string[];
}

export interface LayersRead {
  /** Weakest first. */
  readonly layers: readonly Layer[];
  /** What the workspace's own files hold, for the trust digest. */
  readonly project: readonly ProjectFile[];
  readonly warnings: readonly string[];
}

export const readLayers = (sources: LayerSources): LayersRead => {
  const warnings: string[] = [];
  const layer = (source: LayerSource, base: string, raw: object | undefined, file?: string) => {
    if (raw === undefined) return [];
    const reading = readSettings({ ...raw }, file ?? NAMELESS[source] ?? source, source === 'flag');
    warnings.push(...reading.warnings);
    return [{ source, base, values: reading.values, ...(file !== undefined && { file }) }];
  };
  const fromFile = (source: LayerSource, base: string, file: string) =>
    layer(source, base, readSettingsFile(file), file);

  const { cwd, home, env, flags, skeinHome, workspace } = sources;
  const userFiles = [join(home, '.claude/settings.json'), join(skeinHome, 'settings.json')];
  const project = projectFiles(workspace).filter(({ path }) => !userFiles.includes(path));
  const ofProject = (source: 'project' | 'local') =>
    project.flatMap(({ role, folder, path, text }) =>
      role === source && text !== undefined
        ? layer(source, folder, parseSettingsText(text, path), path)
        : [],
    );
  const layers = [
    ...userFiles.flatMap((file) => fromFile('user', home, file)),
    ...ofProject('project'),
    ...ofProject('local'),
    ...layer('environment', cwd, environmentValues(env)),
    ...settingsFlag(flags.settings, cwd).flatMap(({ raw, file }) => layer('flag', cwd, raw, file)),
    ...layer('flag', cwd, flagValues(flags)),
    ...sources.managedFiles.flatMap((file) => fromFile('policy', dirname(file), file)),
  ];
  return { layers, project, warnings };
};

/** Where an administrator puts settings that nobody can override. */
export const managedSettingsFiles = (platform: NodeJS.Platform): readonly string[] => {
  const roots =
    platform === 'darwin'
      ? ['/Library/Application Support/ClaudeCode', '/Library/Application Support/Skein']
      : ['/etc/claude-code', '/etc/skein'];
  return roots.map((root) => join(root, 'managed-settings.json'));
};

const NAMELESS: Partial<Record<LayerSource, string>> = {
  environment: 'the environment',
  flag: 'the command line',
};

/** `--settings` takes a file or the JSON itself. */
const settingsFlag = (
  given: string | undefined,
  cwd: string,
): readonly { readonly raw: JsonObject; readonly file?: string }[] => {
  if (given === undefined) return [];
  if (given.trimStart().startsWith('{')) {
    return [{ raw: parseSettingsText(given, 'The value of --settings') }];
  }
  const file = resolve(cwd, given);
  const raw = readSettingsFile(file);
  if (raw === undefined) {
    throw new UsageError(`--settings names ${file}, which does not exist; give a file or JSON.`);
  }
  return [{ raw, file }];
};
