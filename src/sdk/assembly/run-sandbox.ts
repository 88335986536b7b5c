/** Decides whether the commands of a run are sandboxed, and says so where they cannot be. */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { stateLayout } from '../../config/workspace/state-directory.js';
import { CLONES } from '../../host/git/git-clone.js';
import {
  CREDENTIAL_STORES,
  type SandboxPlaces,
  SYSTEM_SECRETS,
  sandboxOf,
  sandboxTrouble,
} from '../../host/process/sandbox.js';
import { type HostShellOptions, hostShell } from '../../host/process/shell.js';
import { UsageError } from '../../protocol/errors.js';
import type { Shell } from '../../protocol/tools/tool.js';
import type { WorktreePlace } from '../../protocol/tools/worktree.js';
import type { HostEnvironment } from './options/host-environment.js';

export interface RunShell {
  readonly shell: Shell;
  /** Of an agent in a worktree, which writes nowhere else; left out where nothing keeps it from that. */
  readonly shellIn?: (place: WorktreePlace) => Shell;
  readonly notices: readonly string[];
  /** Ends what the run started, and removes its temporary folder. */
  release(): void;
}

interface ShellPlace extends Pick<HostShellOptions, 'environment' | 'watchdog'> {
  /** Where commands may write. */
  readonly roots: readonly string[];
}

export const shellForRun = async (
  { skein, skeinHome }: Pick<LoadedSettings, 'skein' | 'skeinHome'>,
  { env, home }: Pick<HostEnvironment, 'env' | 'home'>,
  { roots, environment, watchdog }: ShellPlace,
): Promise<RunShell> => {
  const open: RunShell = {
    shell: hostShell({ environment, watchdog }),
    notices: [],
    release: () => watchdog.dismiss(),
  };
  if (skein.sandbox === 'off') return open;
  const trouble = await sandboxTrouble(env);
  if (trouble !== undefined && skein.sandbox === 'required') {
    throw new UsageError(
      `skein.sandbox is "required", but there is no sandbox: ${trouble}. Install bubblewrap and allow user namespaces, or set SKEIN_SANDBOX=auto to go on without one.`,
    );
  }
  if (trouble !== undefined) {
    const notice = `Commands run without a sandbox: ${trouble}. They can do all that you can; \`skein doctor\` says more.`;
    return { ...open, notices: [notice] };
  }
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'skein-sandbox-')));
  const hidden = [skeinHome, ...CREDENTIAL_STORES.map((it) => join(home, it)), ...SYSTEM_SECRETS];
  const inside = { ...environment, TMPDIR: temporary };
  const caged = (places: SandboxPlaces) =>
    hostShell({ environment: inside, watchdog, sandbox: sandboxOf(places) });
  return {
    shell: caged({ writable: [...roots, temporary], hidden }),
    shellIn: ({ path, top }) =>
      caged({
        writable: [path, temporary],
        hidden,
        readable: [top, join(path, '.git'), ...cloneBehind(path, skeinHome)],
      }),
    notices: [],
    release() {
      watchdog.dismiss();
      rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
    },
  };
};

/** Of a worktree on another machine than its lead's: the clone that git needs, which is in the state directory. */
const cloneBehind = (path: string, skeinHome: string): readonly string[] => {
  try {
    const link = /^gitdir: (.+)$/m.exec(readFileSync(join(path, '.git'), 'utf8'))?.[1] ?? '';
    const clone = realpathSync(dirname(dirname(link)));
    const clones = `${realpathSync(stateLayout(skeinHome).worktrees)}${sep}${CLONES}${sep}`;
    return clone.startsWith(clones) ? [clone] : [];
  } catch {
    return [];
  }
};
