/** Choice of the session store, and the flag, variable or file that made it. */
import { resolve } from 'node:path';
import type { LoadedSettings } from '../../../config/settings/load-settings.js';
import { UsageError } from '../../../protocol/skein-error.js';
import { commandSettings } from './command-settings.js';
import type { HostEnvironment } from './host-environment.js';
import type { RunOptions } from './run-options.js';

export type StoreChoice = { readonly from: string } & (
  | { readonly kind: 'embedded' }
  /** `--no-session-persistence`. */
  | { readonly kind: 'memory' }
  | { readonly kind: 'redis'; readonly url: string; readonly leaseMs: number }
);

/** Flags that choose the store. */
export type StoreFlags = Pick<RunOptions, 'store' | 'settings' | 'trust' | 'cwd'>;

export type StoreEnvironment = Pick<HostEnvironment, 'env' | 'home' | 'cwd' | 'platform'> &
  Partial<Pick<HostEnvironment, 'notify'>>;

/** Throws UsageError if the settings or the store's name are invalid. */
export const chooseStore = (
  host: StoreEnvironment,
  flags: StoreFlags & Pick<RunOptions, 'sessionPersistence'>,
): StoreChoice => {
  if (flags.sessionPersistence === false) {
    return { kind: 'memory', from: '--no-session-persistence' };
  }
  const settings = settingsOf(host, flags);
  const { store, leaseMs } = settings.skein;
  const from = sourceOf(host, settings);
  return store === 'embedded'
    ? { kind: store, from }
    : { kind: 'redis', url: store, leaseMs, from };
};

/**
 * Loads the settings of the directory, or of the home directory if those are invalid: broken settings of a
 * workspace must not prevent listing or stopping sessions.
 */
const settingsOf = (
  host: StoreEnvironment,
  { store, settings, trust, cwd }: StoreFlags,
): LoadedSettings => {
  const flags = {
    ...(store !== undefined && { store }),
    ...(settings !== undefined && { settings }),
    ...(trust !== undefined && { trust }),
  };
  try {
    return commandSettings(host, flags, resolve(host.cwd, cwd ?? ''));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    try {
      return commandSettings(host, flags, host.home);
    } catch {
      throw error;
    }
  }
};

/** Returns the flag, variable or file that chose the store. */
const sourceOf = ({ env }: StoreEnvironment, { skeinOrigins }: LoadedSettings): string => {
  const { source = 'default', file } = skeinOrigins.store ?? {};
  if (file !== undefined) return file;
  if (source === 'command') return '--store';
  if (source === 'flag') return '--settings';
  if (source !== 'environment') return source;
  return env.SKEIN_STORE ? 'SKEIN_STORE' : 'SKEIN_REDIS_URL';
};
