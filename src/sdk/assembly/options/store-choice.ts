/** Which store is meant, and who said so. */
import { resolve } from 'node:path';
import type { LoadedSettings } from '../../../config/settings/load-settings.js';
import { UsageError } from '../../../protocol/errors.js';
import { settingsFor } from './command-settings.js';
import type { HostEnvironment } from './host-environment.js';
import type { RunOptions } from './run-options.js';

export type StoreChoice = { readonly from: string } & (
  | { readonly kind: 'embedded' }
  /** `--no-session-persistence`. */
  | { readonly kind: 'memory' }
  | { readonly kind: 'redis'; readonly url: string; readonly leaseMs: number }
);

/** What is said of a store by those who only look at sessions. */
export type StoreFlags = Pick<RunOptions, 'store' | 'settings' | 'trust' | 'cwd'>;

/** The world as far as the choice depends on it. */
export type StorePlace = Pick<HostEnvironment, 'env' | 'home' | 'cwd' | 'platform'>;

/** Throws a UsageError when somebody means one that cannot be understood. */
export const chooseStore = (
  machine: StorePlace,
  flags: StoreFlags & Pick<RunOptions, 'sessionPersistence'>,
): StoreChoice => {
  if (flags.sessionPersistence === false) {
    return { kind: 'memory', from: '--no-session-persistence' };
  }
  const settings = settingsOf(machine, flags);
  const { store: said, leaseMs } = settings.skein;
  const from = fromOf(machine, settings);
  return said === 'embedded' ? { kind: said, from } : { kind: 'redis', url: said, leaseMs, from };
};

/** A workspace whose settings are broken must not keep anybody from looking at sessions or stopping them. */
const settingsOf = (
  machine: StorePlace,
  { store, settings, trust, cwd }: StoreFlags,
): LoadedSettings => {
  const flags = {
    ...(store !== undefined && { store }),
    ...(settings !== undefined && { settings }),
    ...(trust !== undefined && { trust }),
  };
  try {
    return settingsFor(machine, flags, resolve(machine.cwd, cwd ?? ''));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    try {
      return settingsFor(machine, flags, machine.home);
    } catch {
      throw error;
    }
  }
};

/** As people know it: a flag, a variable, or a file. */
const fromOf = ({ env }: StorePlace, { skeinOrigins }: LoadedSettings): string => {
  const { source = 'default', file } = skeinOrigins.store ?? {};
  if (file !== undefined) return file;
  if (source === 'command') return '--store';
  if (source === 'flag') return '--settings';
  if (source !== 'environment') return source;
  return env.SKEIN_STORE ? 'SKEIN_STORE' : 'SKEIN_REDIS_URL';
};
