/** Loads the settings of a command from files, the environment and its flags. */
import { resolve } from 'node:path';
import { splitRules } from '../../../config/settings/flag-settings.js';
import { type LoadedSettings, loadSettings } from '../../../config/settings/load-settings.js';
import type { HostEnvironment } from './host-environment.js';
import type { RunOptions } from './run-options.js';

/** Loads the settings for directory `cwd`. Throws UsageError if a setting is invalid. */
export const commandSettings = (
  host: Pick<HostEnvironment, 'env' | 'home' | 'cwd' | 'platform'>,
  flags: RunOptions,
  cwd: string,
): LoadedSettings => {
  const { env, home, platform } = host;
  return loadSettings({
    env,
    home,
    cwd,
    platform,
    trust: flags.trust ?? false,
    flags: {
      ...(flags.settings !== undefined && { settings: flags.settings }),
      ...(flags.allowedTools && { allowedTools: flags.allowedTools.flatMap(splitRules) }),
      ...(flags.disallowedTools && { disallowedTools: flags.disallowedTools.flatMap(splitRules) }),
      ...(flags.permissionMode !== undefined && { permissionMode: flags.permissionMode }),
      ...(flags.model !== undefined && { model: flags.model }),
      ...(flags.fallbackModel !== undefined && { fallbackModel: flags.fallbackModel }),
      ...(flags.addDir && { addDirs: flags.addDir.map((dir) => resolve(host.cwd, dir)) }),
      skein: {
        ...(flags.store !== undefined && { store: flags.store }),
        ...(flags.effort !== undefined && { effort: flags.effort }),
        ...(flags.maxBudgetUsd !== undefined && { maxBudgetUsd: flags.maxBudgetUsd }),
        ...(flags.maxBudgetTokens !== undefined && { maxBudgetTokens: flags.maxBudgetTokens }),
      },
    },
  });
};
