/**
 * Sandbox for commands, made with bubblewrap: the disk is read-only except for the workspace and a
 * temporary folder, there is no network, other processes are invisible, and credential stores look
 * empty.
 *
 * `--new-session` is not needed, because every command starts in its own session without a
 * terminal. When the process group is killed, bubblewrap dies and kills all processes inside.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mountAliases } from '../../lib/paths/mount-aliases.js';
import { existingRealPath, MountPlan } from './mount-plan.js';
import { CONTROL_NAMES } from './protect-folder.js';
import { type GuardOptions, WorkspaceGuard } from './workspace-guard.js';

export interface SandboxPaths {
  /** Workspace and added directories. Their control files are read-only. */
  readonly writable: readonly string[];
  /** Folder of the run for temporary files, without control files. */
  readonly temporary: string;
  /** Paths that look empty inside: state directory, keys, credentials. */
  readonly hidden: readonly string[];
  /** Read-only paths, even inside hidden folders: the repository of a worktree. */
  readonly readable?: readonly string[];
}

export interface SandboxedCommand {
  /** Program to start instead of the shell, and its first arguments. */
  readonly start: readonly [program: string, ...args: string[]];
  /** Undoes planted changes. Call when all processes of the command have ended. Returns sentences for the agent. */
  end(): Promise<readonly string[]>;
}

/** Rejects if the control files of the workspace cannot be protected. */
export type Sandbox = (cwd: string) => Promise<SandboxedCommand>;

const PROGRAM = 'bwrap';

/** Drops root's capabilities, which could undo the sandbox, except for writing to files of other users. */
const capabilityArguments = (uid: number | undefined): readonly string[] =>
  uid === 0
    ? [
        '--cap-drop',
        'ALL',
        '--cap-add',
        'CAP_DAC_OVERRIDE',
        '--cap-add',
        'CAP_FOWNER',
        '--cap-add',
        'CAP_CHOWN',
      ]
    : [];

const baseArguments = (): readonly string[] => [
  '--ro-bind',
  '/',
  '/',
  '--dev',
  '/dev',
  '--proc',
  '/proc',
  '--die-with-parent',
  '--unshare-net',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-uts',
  ...capabilityArguments(process.getuid?.()),
];

/** Returns undefined if the sandbox works. Otherwise returns the reason, as the end of a "because" sentence. */
export const sandboxProblem = async (
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> => {
  if (process.platform !== 'linux') return 'bubblewrap exists on Linux only';
  try {
    await promisify(execFile)(PROGRAM, [...baseArguments(), 'true'], { timeout: 10_000, env });
    return undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return 'bubblewrap (bwrap) is not installed';
    }
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    return `bubblewrap does not work here (${stderr.split('\n')[0]?.slice(0, 200) || 'no reason given'}); the system may forbid user namespaces`;
  }
};

/** Plans the mounts for every command, because files to protect may appear. */
export const sandboxOf = (paths: SandboxPaths, options: GuardOptions): Sandbox => {
  const roots = paths.writable.flatMap((root) => existingRealPath(root) ?? []);
  const guard = new WorkspaceGuard(roots, options);
  return async (cwd) => {
    const plan = new MountPlan();
    for (const path of [...SHARED, ...paths.hidden]) plan.mount(path, 'hidden');
    for (const path of [...RESTORED, ...(paths.readable ?? [])]) plan.mount(path, 'readOnly');
    for (const root of [...roots, paths.temporary]) plan.mount(root, 'writable');
    hideAliases(plan, paths.hidden, roots);
    const { impossible, end } = await guard.begin(plan);
    const mounts = plan.arguments(impossible);
    return { start: [PROGRAM, ...baseArguments(), ...mounts, '--chdir', cwd, '--'], end };
  };
};

/** Bind mounts in a writable folder may show hidden paths or control files a second time. */
const hideAliases = (plan: MountPlan, hidden: readonly string[], roots: readonly string[]) => {
  const real = hidden.flatMap((path) => existingRealPath(path) ?? []);
  for (const alias of mountAliases(real, roots)) plan.mount(alias, 'hidden');
  const controls = roots.flatMap((root) =>
    ['.git', ...CONTROL_NAMES].map((name) => join(root, name)),
  );
  for (const alias of mountAliases(controls, roots)) plan.protect(alias, 'folder');
};

/** Folders with sockets and files of other programs, replaced by empty folders. */
const SHARED = ['/tmp', '/var/tmp', '/run'];
/** Folders below `/run` that some systems need to start programs. */
const RESTORED = [
  '/run/current-system',
  '/run/wrappers',
  '/run/opengl-driver',
  '/run/systemd/resolve',
];
/** Paths with keys and credentials, relative to the home directory. */
export const CREDENTIAL_STORES: readonly string[] = [
  '.ssh',
  '.aws',
  '.gnupg',
  '.azure',
  '.kube',
  '.docker',
  '.oci',
  '.password-store',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  '.pgpass',
  '.my.cnf',
  '.vault-token',
  '.s3cfg',
  '.config/gcloud',
  '.config/gh',
  '.config/hub',
  '.config/op',
  '.config/rclone',
  '.config/git',
  '.config/google-chrome',
  '.config/chromium',
  '.mozilla',
  '.thunderbird',
  '.claude.json',
  '.local/share/keyrings',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.m2/settings.xml',
  '.gradle/gradle.properties',
  '.terraform.d',
  '.bash_history',
  '.zsh_history',
  '.claude/.credentials.json',
  '.codex/auth.json',
  '.gemini/oauth_creds.json',
];

/** Paths that only root can read, hidden because the sandbox may run as root. */
export const SYSTEM_SECRETS: readonly string[] = [
  '/etc/shadow',
  '/etc/gshadow',
  '/etc/sudoers',
  '/etc/ssl/private',
  '/var/lib/docker',
];
