/**
 * Where settings come from, weakest first:
 *
 *   defaults < user < project < local < environment < --settings < other flags < managed policy
 *
 * User settings are `~/.claude/settings.json` and then SKEIN_HOME's; project settings are those of
 * `.claude` and then `.skein`, for each folder of the workspace. Each source becomes a layer;
 * merging them is merge-settings.ts.
 */
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../../protocol/errors.js';
import type { SettingSource } from '../../protocol/permission/permission.js';
import type { JsonPath } from '../json/json-places.js';
import type { ConfigEnvironment } from '../workspace/config-environment.js';
import { type ProjectFile, projectFiles } from '../workspace/project-files.js';
import type { Workspace } from '../workspace/workspace-root.js';
import { environmentValues } from './environment-settings.js';
import { flagValues, type SettingsFlags } from './flag-settings.js';
import {
  readSettingsDocument,
  type SettingsDocument,
  settingsDocument,
  unwritten,
} from './settings-file.js';
import { readSettings, type SettingsValues } from './settings-schema.js';

export type LayerSource = 'environment' | Exclude<SettingSource, 'session'>;

/** Somebody typed it just now. */
export const isTyped = (source: string | undefined): boolean =>
  source === 'flag' || source === 'command';

export interface Layer {
  readonly source: LayerSource;
  /** The file, or undefined for flags and the environment. */
  readonly file?: string;
  /** Where relative directories of this layer start. */
  readonly base: string;
  readonly values: SettingsValues;
  /** In which line of the file something stands. */
  readonly lineOf: (path: JsonPath) => number | undefined;
}

export interface LayerSources extends ConfigEnvironment {
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
  const layer = (source: LayerSource, base: string, document: SettingsDocument | undefined) => {
    if (document === undefined) return [];
    const { file, lineOf } = document;
    const { values, warnings: said } = readSettings(document, {
      isStrict: isTyped(source),
      isPolicy: source === 'policy',
    });
    warnings.push(...said);
    return [{ source, base, values, lineOf, ...(file !== undefined && { file }) }];
  };
  const fromFile = (source: LayerSource, base: string, file: string) =>
    layer(source, base, readSettingsDocument(file));

  const { cwd, home, env, flags, skeinHome, workspace } = sources;
  const userFiles = [join(home, '.claude/settings.json'), join(skeinHome, 'settings.json')];
  const project = projectFiles(workspace).filter(({ path }) => !userFiles.includes(path));
  const ofProject = (source: 'project' | 'local') =>
    project.flatMap(({ role, folder, path, text }) =>
      role === source && text !== undefined
        ? layer(source, folder, settingsDocument(text, path, path))
        : [],
    );
  const layers = [
    ...userFiles.flatMap((file) => fromFile('user', home, file)),
    ...ofProject('project'),
    ...ofProject('local'),
    ...layer('environment', cwd, named(environmentValues(env), 'the environment')),
    ...layer('flag', cwd, settingsFlag(flags.settings, cwd)),
    ...layer('command', cwd, named(flagValues(flags), 'the command line')),
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

const named = (values: object | undefined, place: string) =>
  values === undefined ? undefined : unwritten(values, place);

/** `--settings` takes a file or the JSON itself. */
const settingsFlag = (given: string | undefined, cwd: string): SettingsDocument | undefined => {
  if (given === undefined) return undefined;
  if (given.trimStart().startsWith('{')) {
    const document = settingsDocument(given, '--settings');
    // A line that was typed has no second one.
    return given.trim().includes('\n') ? document : { ...document, lineOf: () => undefined };
  }
  const file = resolve(cwd, given);
  const document = readSettingsDocument(file);
  if (document !== undefined) return document;
  throw new UsageError(`--settings names ${file}, which does not exist; give a file or JSON.`);
};
