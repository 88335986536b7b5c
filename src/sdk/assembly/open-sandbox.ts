/** Opens the sandbox for a run's commands, or explains why commands run without one. */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { stateLayout } from '../../config/workspace/state-layout.js';
import { CLONES } from '../../host/git/git-clone.js';
import { type HostShellOptions, hostShell } from '../../host/process/host-shell.js';
import type { SandboxPaths } from '../../host/sandbox/sandbox.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { Shell } from '../../protocol/tools/shell.js';
import type { WorktreeLocation } from '../../protocol/tools/worktrees.js';
import type { HostEnvironment } from './options/host-environment.js';

export interface OpenedSandbox {
  readonly shell: Shell;
  /** Shell that can write only in one worktree. Undefined without a sandbox. */
  readonly shellIn?: (worktree: WorktreeLocation) => Shell;
  readonly notices: readonly string[];
  /** Ends the run's child processes and removes its temporary folder. */
  release(): void;
}

interface ShellPlace extends Pick<HostShellOptions, 'environment' | 'watchdog'> {
  /** Folders that commands may write in. */
  readonly roots: readonly string[];
}

/** Rejects with UsageError if a sandbox is required but not available. */
export const openSandbox = async (
  { skein, skeinHome }: Pick<LoadedSettings, 'skein' | 'skeinHome'>,
  { env, home }: Pick<HostEnvironment, 'env' | 'home'>,
  { roots, environment, watchdog }: ShellPlace,
): Promise<OpenedSandbox> => {
  const open: OpenedSandbox = {
    shell: hostShell({ environment, watchdog }),
    notices: [],
    release: () => watchdog.dismiss(),
  };
  if (skein.sandbox === 'off') return open;
  const { CREDENTIAL_STORES, SYSTEM_SECRETS, sandboxOf, sandboxProblem } = await import(
    '../../host/sandbox/sandbox.js'
  );
  const problem = await sandboxProblem(env);
  if (problem !== undefined && skein.sandbox === 'required') {
    throw new UsageError(
      `skein.sandbox is "required", but there is no sandbox: ${problem}. Install bubblewrap and allow user namespaces, or set SKEIN_SANDBOX=auto to run without one.`,
    );
  }
  if (problem !== undefined) {
    const notice = `Commands run without a sandbox: ${problem}. They can do everything that you can; \`skein doctor\` shows details.`;
    return { ...open, notices: [notice] };
  }
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'skein-sandbox-')));
  const hidden = [
    skeinHome,
    ...CREDENTIAL_STORES.map((path) => join(home, path)),
    ...SYSTEM_SECRETS,
  ];
  const inside = { ...environment, TMPDIR: temporary };
  const guarding = { environment, home, registers: stateLayout(skeinHome).sandbox };
  const sandboxed = (paths: SandboxPaths) =>
    hostShell({ environment: inside, watchdog, sandbox: sandboxOf(paths, guarding) });
  return {
    shell: sandboxed({ writable: roots, temporary, hidden }),
    shellIn: ({ path, top }) =>
      sandboxed({
        writable: [path],
        temporary,
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

/** Returns the clone in the state directory that a worktree on a worker's machine belongs to. Git needs it. */
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
