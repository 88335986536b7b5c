/**
 * Commands in a sandbox of bubblewrap: the whole disk to look at, the workspace and a temporary
 * folder to write in, no network, no processes but its own, and the stores of credentials empty.
 *
 * It needs no `--new-session`: every command is started in a session of its own, without a terminal.
 * Its group is ended as any other, and with bubblewrap dies all that it holds, wherever it went.
 */
import { execFile } from 'node:child_process';
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface SandboxPaths {
  /** The workspace, added directories, a temporary folder. */
  readonly writable: readonly string[];
  /** Looks empty from inside: the state of Skein, keys, credentials. */
  readonly hidden: readonly string[];
  /** Can be read wherever it lies, and not written: the repository behind a worktree. */
  readonly readable?: readonly string[];
}

/** The program to start in place of a shell, and its first arguments. */
export type Sandbox = (cwd: string) => readonly [program: string, ...args: string[]];

const PROGRAM = 'bwrap';

/** Root would keep the right to undo all this. What it needs to write in others' folders stays. */
const rights = (uid: number | undefined): readonly string[] =>
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

const frame = (): readonly string[] => [
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
  ...rights(process.getuid?.()),
];

/** Undefined when it works; otherwise why not, to follow "because". */
export const sandboxTrouble = async (
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> => {
  if (process.platform !== 'linux') return 'bubblewrap exists on Linux only';
  try {
    await promisify(execFile)(PROGRAM, [...frame(), 'true'], { timeout: 10_000, env });
    return undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return 'bubblewrap (bwrap) is not installed';
    }
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    return `bubblewrap does not work here (${said.split('\n')[0]?.slice(0, 200) || 'no reason given'}); the system may forbid user namespaces`;
  }
};

/** Looked up for every command: what is there to be protected may change. */
export const sandboxOf =
  ({ writable, hidden, readable = [] }: SandboxPaths): Sandbox =>
  (cwd) => {
    const mounts = new Map<string, readonly string[]>();
    const mount = (path: string, how: (place: string, found: Stats) => readonly string[]) => {
      const place = realOf(path);
      const found = place === undefined ? undefined : statOf(place);
      if (place !== undefined && found !== undefined) mounts.set(place, how(place, found));
    };
    for (const path of [...SHARED, ...hidden]) mount(path, emptied);
    for (const path of [...RESTORED, ...readable])
      mount(path, (place) => ['--ro-bind', place, place]);
    for (const root of writable) mount(root, (place) => ['--bind', place, place]);
    for (const root of writable) {
      for (const name of PROTECTED) {
        mount(join(root, name), (place) => ['--ro-bind', place, place]);
      }
    }
    // What holds comes before what it holds, or it would be covered again.
    const inOrder = [...mounts].sort(([one], [other]) => one.length - other.length);
    return [PROGRAM, ...frame(), ...inOrder.flatMap(([, how]) => how), '--chdir', cwd, '--'];
  };

/** Where other programs listen on sockets and leave files: a private one instead. */
const SHARED = ['/tmp', '/var/tmp', '/run'];
/** Some systems keep their programs there. */
const RESTORED = [
  '/run/current-system',
  '/run/wrappers',
  '/run/opengl-driver',
  '/run/systemd/resolve',
];
/** What would let a command act outside of the sandbox later. */
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

const emptied = (place: string, found: Stats): readonly string[] =>
  found.isDirectory() ? ['--tmpfs', place] : ['--ro-bind', '/dev/null', place];

const realOf = (path: string): string | undefined => {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
};

const statOf = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

/** Below a home: what holds keys and credentials. */
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

/** What only root may read, and a sandbox of root could. */
export const SYSTEM_SECRETS: readonly string[] = [
  '/etc/shadow',
  '/etc/gshadow',
  '/etc/sudoers',
  '/etc/ssl/private',
  '/var/lib/docker',
];
