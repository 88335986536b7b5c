/** The effective settings of a workspace: read, restricted where it is not trusted, merged. */

import { withoutReservedEnv } from '../trust/project-env.js';
import { isTrustGiven, type TrustState, trustState } from '../trust/trust.js';
import {
  explainIgnored,
  type IgnoredSetting,
  restrictUntrusted,
} from '../trust/untrusted-layer.js';
import type { ConfigEnvironment } from '../workspace/config-environment.js';
import type { ProjectFile } from '../workspace/project-files.js';
import { resolveSkeinHome, stateLayout } from '../workspace/state-directory.js';
import { findWorkspace, type Workspace } from '../workspace/workspace-root.js';
import type { SettingsFlags } from './flag-settings.js';
import { type MergedSettings, mergeSettings } from './merge-settings.js';
import { managedSettingsFiles, readLayers } from './settings-layers.js';

export interface SettingsSources extends ConfigEnvironment {
  readonly platform: NodeJS.Platform;
  readonly flags?: SettingsFlags;
  /** `--trust`. */
  readonly trust?: boolean;
  /** Instead of the places that the platform names. */
  readonly managedFiles?: readonly string[];
}

export interface LoadedSettings extends MergedSettings {
  readonly skeinHome: string;
  readonly workspace: Workspace;
  readonly trust: TrustState;
  /** What the workspace asked for and did not get; `ignoredNotice` says it in one sentence. */
  readonly ignored: readonly IgnoredSetting[];
  readonly ignoredNotice?: string;
  /** The files behind `trust`, to give to trustWorkspace once a person agrees. */
  readonly projectFiles: readonly ProjectFile[];
  /** Sentences for stderr. */
  readonly warnings: readonly string[];
}

/** Throws a UsageError for what must not be ignored: broken JSON, broken deny or ask rules. */
export const loadSettings = (sources: SettingsSources): LoadedSettings => {
  const { env, home, cwd, flags = {} } = sources;
  const skeinHome = resolveSkeinHome(sources);
  const workspace = findWorkspace(cwd, home);
  const managedFiles = sources.managedFiles ?? managedSettingsFiles(sources.platform);
  const read = readLayers({ env, home, cwd, skeinHome, workspace, flags, managedFiles });
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
  if (state !== 'trusted') {
    const servers = read.project.filter(({ role, text }) => role === 'mcp' && text !== undefined);
    ignored.push(...servers.map(({ path }) => ({ file: path, key: 'MCP servers' })));
  }
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
