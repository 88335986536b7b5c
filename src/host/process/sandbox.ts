/**
 * Sandbox for commands, made with bubblewrap: the disk is read-only except for the workspace and a
 * temporary folder, there is no network, other processes are invisible, and credential stores look
 * empty.
 *
 * `--new-session` is not needed, because every command starts in its own session without a
 * terminal. When the process group is killed, bubblewrap dies and kills all processes inside.
 */
import { execFile } from 'node:child_process';
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface SandboxPaths {
  /** Workspace, added directories, temporary folder. */
  readonly writable: readonly string[];
  /** Paths that look empty inside: state directory, keys, credentials. */
  readonly hidden: readonly string[];
  /** Read-only paths, even inside hidden folders: the repository of a worktree. */
  readonly readable?: readonly string[];
}

/** Returns the program to start instead of the shell, and its first arguments. */
export type Sandbox = (cwd: string) => readonly [program: string, ...args: string[]];

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

/** Resolves all paths for every command, because files to protect may appear. */
export const sandboxOf =
  ({ writable, hidden, readable = [] }: SandboxPaths): Sandbox =>
  (cwd) => {
    const mounts = new Map<string, readonly string[]>();
    const mount = (
      path: string,
      argumentsFor: (realPath: string, stats: Stats) => readonly string[],
    ) => {
      const realPath = realPathOf(path);
      const stats = realPath === undefined ? undefined : statOf(realPath);
      if (realPath !== undefined && stats !== undefined)
        mounts.set(realPath, argumentsFor(realPath, stats));
    };
    for (const path of [...SHARED, ...hidden]) mount(path, emptyMount);
    for (const path of [...RESTORED, ...readable])
      mount(path, (realPath) => ['--ro-bind', realPath, realPath]);
    for (const root of writable) mount(root, (realPath) => ['--bind', realPath, realPath]);
    for (const root of writable) {
      for (const name of PROTECTED) {
        mount(join(root, name), (realPath) => ['--ro-bind', realPath, realPath]);
      }
    }
    // Mount parents before children, because a later mount covers an earlier mount below it.
    const sorted = [...mounts].sort(([a], [b]) => a.length - b.length);
    return [
      PROGRAM,
      ...baseArguments(),
      ...sorted.flatMap(([, args]) => args),
      '--chdir',
      cwd,
      '--',
    ];
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
/** Files in the workspace that could run commands outside of the sandbox later. */
const PROTECTED = [
  '.git/hooks',
  '.git/config',
  '.husky',
  '.mcp.json',
  ...['.claude', '.skein'].flatMap((folder) => [
    `${folder}/settings.json`,
    `${folder}/settings.local.json`,
    `${folder}/hooks`,
  ]),
];

const emptyMount = (path: string, stats: Stats): readonly string[] =>
  stats.isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];

const realPathOf = (path: string): string | undefined => {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
};

const statOf = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

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
