/** Decides whether the commands of a run are sandboxed, and says so where they cannot be. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoadedSettings } from '../config/load-settings.js';
import {
  CREDENTIAL_STORES,
  type Sandbox,
  SYSTEM_SECRETS,
  sandboxOf,
  sandboxTrouble,
} from '../host/sandbox.js';
import { UsageError } from '../protocol/errors.js';
import type { Surroundings } from './surroundings.js';

export interface RunSandbox {
  /** Undefined: commands run as they are. */
  readonly sandbox: Sandbox | undefined;
  /** Commands get these on top of their environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly notices: readonly string[];
  /** Removes the temporary folder of the run. */
  release(): void;
}

const NONE: RunSandbox = { sandbox: undefined, environment: {}, notices: [], release: () => {} };

export const sandboxForRun = async (
  { skein, skeinHome }: Pick<LoadedSettings, 'skein' | 'skeinHome'>,
  { env, home }: Pick<Surroundings, 'env' | 'home'>,
  roots: readonly string[],
): Promise<RunSandbox> => {
  if (skein.sandbox === 'off') return NONE;
  const trouble = await sandboxTrouble(env);
  if (trouble !== undefined && skein.sandbox === 'required') {
    throw new UsageError(
      `skein.sandbox is "required", but there is no sandbox: ${trouble}. Install bubblewrap and allow user namespaces, or set SKEIN_SANDBOX=auto to go on without one.`,
    );
  }
  if (trouble !== undefined) {
    const notice = `Commands run without a sandbox: ${trouble}. They can do all that you can; \`skein doctor\` says more.`;
    return { ...NONE, notices: [notice] };
  }
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'skein-sandbox-')));
  return {
    sandbox: sandboxOf({
      writable: [...roots, temporary],
      hidden: [skeinHome, ...CREDENTIAL_STORES.map((it) => join(home, it)), ...SYSTEM_SECRETS],
    }),
    environment: { TMPDIR: temporary },
    notices: [],
    release: () => rmSync(temporary, { recursive: true, force: true, maxRetries: 3 }),
  };
};
