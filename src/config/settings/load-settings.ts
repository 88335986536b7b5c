/** Loads the effective settings of a workspace: reads all layers, restricts untrusted layers, merges. */
import {
  explainIgnored,
  type IgnoredSetting,
  restrictUntrusted,
} from '../trust/restrict-untrusted.js';
import { isTrustGiven, type TrustState, trustState } from '../trust/trust-state.js';
import { withoutReservedEnv } from '../trust/without-reserved-env.js';
import type { ConfigEnvironment } from '../workspace/config-environment.js';
import type { ProjectFile } from '../workspace/project-files.js';
import { resolveSkeinHome, stateLayout } from '../workspace/state-layout.js';
import { findWorkspace, type WorkspaceFolders } from '../workspace/workspace-folders.js';
import type { SettingsFlags } from './flag-settings.js';
import { type MergedSettings, mergeSettings } from './merge-settings.js';
import { managedSettingsFiles, readSettingsLayers } from './settings-layers.js';

export interface SettingsSources extends ConfigEnvironment {
  readonly platform: NodeJS.Platform;
  readonly flags?: SettingsFlags;
  /** True for `--trust`. Default: false. */
  readonly trust?: boolean;
  /** Files of the managed policy. Default: the files of the platform. */
  readonly managedFiles?: readonly string[];
}

export interface LoadedSettings extends MergedSettings {
  readonly skeinHome: string;
  readonly workspace: WorkspaceFolders;
  readonly trust: TrustState;
  /** Settings of an untrusted workspace that do not apply. */
  readonly ignored: readonly IgnoredSetting[];
  /** Sentence about the ignored settings. Undefined if there are none. */
  readonly ignoredNotice?: string;
  /** Files that `trust` was computed from. Pass them to trustWorkspace if a person agrees. */
  readonly projectFiles: readonly ProjectFile[];
  /** Sentences for stderr. */
  readonly warnings: readonly string[];
}

/** Throws UsageError for mistakes that must not be ignored: invalid JSON, invalid deny or ask rules. */
export const loadSettings = (sources: SettingsSources): LoadedSettings => {
  const { env, home, cwd, flags = {} } = sources;
  const skeinHome = resolveSkeinHome(sources);
  const workspace = findWorkspace(cwd, home);
  const managedFiles = sources.managedFiles ?? managedSettingsFiles(sources.platform);
  const read = readSettingsLayers({ env, home, cwd, skeinHome, workspace, flags, managedFiles });
  const state = isTrustGiven(sources.trust ?? false, env)
    ? 'trusted'
    : trustState(stateLayout(skeinHome).trust, workspace, read.project);

  const ignored: IgnoredSetting[] = [];
  const warnings = [...read.warnings];
  const layers = read.layers.map((layer) => {
    if (layer.source !== 'project' && layer.source !== 'local') return layer;
    if (state !== 'trusted') {
      const restricted = restrictUntrusted(layer);
      ignored.push(...restricted.ignored);
      return restricted.layer;
    }
    const permitted = withoutReservedEnv(layer);
    warnings.push(...permitted.warnings);
    return permitted.layer;
  });
  const merged = mergeSettings(layers, home);
  const notice = state === 'trusted' ? undefined : explainIgnored(workspace.root, state, ignored);
  return {
    ...merged,
    skeinHome,
    workspace,
    trust: state,
    ignored,
    ...(notice !== undefined && { ignoredNotice: notice }),
    projectFiles: read.project,
    warnings: [...warnings, ...merged.warnings],
  };
};
