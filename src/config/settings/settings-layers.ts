/**
 * Reads the layers of settings, weakest first:
 *
 *   defaults < user < project < local < environment < --settings < other flags < managed policy
 *
 * User settings are `~/.claude/settings.json` and then `settings.json` of SKEIN_HOME. Project settings are in
 * `.claude` and then `.skein`, for each folder of the workspace. merge-settings.ts merges the layers.
 */
import { dirname, join, resolve } from 'node:path';
import type { SettingSource } from '../../protocol/permission/permission-rule.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { JsonPath } from '../json/json-places.js';
import {
  documentOfValue,
  readSettingsDocument,
  type SettingsDocument,
  settingsDocument,
} from '../json/settings-document.js';
import type { ConfigEnvironment } from '../workspace/config-environment.js';
import { type ProjectFile, projectFiles } from '../workspace/project-files.js';
import type { WorkspaceFolders } from '../workspace/workspace-folders.js';
import { environmentSettings } from './environment-settings.js';
import { flagSettings, type SettingsFlags } from './flag-settings.js';
import { readSettings, type SettingsValues } from './read-settings.js';

export type LayerSource = 'environment' | Exclude<SettingSource, 'session'>;

/** True if the user has typed the setting for this command. */
export const isFromCommandLine = (source: string | undefined): boolean =>
  source === 'flag' || source === 'command';

export interface SettingsLayer {
  readonly source: LayerSource;
  /** Undefined for flags and the environment. */
  readonly file?: string;
  /** Folder that relative directories of this layer start from, absolute. */
  readonly base: string;
  readonly values: SettingsValues;
  /** Returns the line of a value in the file, from 1. Returns undefined if it has none. */
  readonly lineOf: (path: JsonPath) => number | undefined;
}

interface SettingsLayerSources extends ConfigEnvironment {
  readonly skeinHome: string;
  readonly workspace: WorkspaceFolders;
  readonly flags: SettingsFlags;
  /** Files of the managed policy, weakest first. */
  readonly managedFiles: readonly string[];
}

export interface SettingsLayers {
  /** Weakest first. */
  readonly layers: readonly SettingsLayer[];
  /** Files of the workspace, for the trust digest. */
  readonly project: readonly ProjectFile[];
  readonly warnings: readonly string[];
}

/** Throws UsageError for mistakes that must not be ignored. */
export const readSettingsLayers = (sources: SettingsLayerSources): SettingsLayers => {
  const warnings: string[] = [];
  const layer = (source: LayerSource, base: string, document: SettingsDocument | undefined) => {
    if (document === undefined) return [];
    const { file, lineOf } = document;
    const { values, warnings: found } = readSettings(document, {
      isStrict: isFromCommandLine(source),
      isPolicy: source === 'policy',
    });
    warnings.push(...found);
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
    ...layer('environment', cwd, documentOf(environmentSettings(env), 'the environment')),
    ...layer('flag', cwd, settingsFlag(flags.settings, cwd)),
    ...layer('command', cwd, documentOf(flagSettings(flags), 'the command line')),
    ...sources.managedFiles.flatMap((file) => fromFile('policy', dirname(file), file)),
  ];
  return { layers, project, warnings };
};

/** Returns the files of the managed policy, which overrides all other settings. */
export const managedSettingsFiles = (platform: NodeJS.Platform): readonly string[] => {
  const roots =
    platform === 'darwin'
      ? ['/Library/Application Support/ClaudeCode', '/Library/Application Support/Skein']
      : ['/etc/claude-code', '/etc/skein'];
  return roots.map((root) => join(root, 'managed-settings.json'));
};

const documentOf = (values: object | undefined, origin: string) =>
  values === undefined ? undefined : documentOfValue(values, origin);

/** `flag` is a file name or JSON. Throws UsageError if the file does not exist. */
const settingsFlag = (flag: string | undefined, cwd: string): SettingsDocument | undefined => {
  if (flag === undefined) return undefined;
  if (flag.trimStart().startsWith('{')) {
    const document = settingsDocument(flag, '--settings');
    // Line numbers do not help for JSON on a single line.
    return flag.trim().includes('\n') ? document : { ...document, lineOf: () => undefined };
  }
  const file = resolve(cwd, flag);
  const document = readSettingsDocument(file);
  if (document !== undefined) return document;
  throw new UsageError(`--settings names ${file}, which does not exist; give a file or JSON.`);
};
