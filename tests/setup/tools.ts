/** Tools of the machine that some tests need: the command that checks a tool, and its packages. */
import { spawnSync } from 'node:child_process';

export interface Tool {
  /** Debian packages. */
  readonly packages: readonly string[];
  readonly probe: readonly [command: string, ...args: string[]];
}

// Tests of a read-only workspace make a bind mount and remount it read-only.
const TRY_MOUNTS =
  'd=$(mktemp -d) && mount -t tmpfs none "$d" && mount --bind "$d" "$d" && mount -o remount,ro,bind "$d"';

export const TOOLS = {
  git: { packages: ['git', 'ca-certificates'], probe: ['git', '--version'] },
  tmux: { packages: ['tmux'], probe: ['tmux', '-V'] },
  zsh: { packages: ['zsh'], probe: ['zsh', '--version'] },
  fish: { packages: ['fish'], probe: ['fish', '--version'] },
  bwrap: {
    packages: ['bubblewrap'],
    probe: [
      'bwrap',
      '--ro-bind',
      '/',
      '/',
      '--dev',
      '/dev',
      '--proc',
      '/proc',
      '--unshare-net',
      'true',
    ],
  },
  /** A browser that runs without a window, with a font. */
  chromium: { packages: ['chromium', 'fonts-dejavu-core'], probe: ['chromium', '--version'] },
  /** A private server for a test, with persistence and the command that makes clusters. */
  'own-redis': { packages: ['redis-server', 'redis-tools'], probe: ['redis-server', '--version'] },
  /** The right to set a private host name: `unshare --uts`, as root. */
  'root-hostname': {
    packages: ['util-linux', 'hostname'],
    probe: ['unshare', '--uts', 'sh', '-c', 'hostname skein && test "$(uname -n)" = skein'],
  },
  /** The right to mount in a private namespace: `unshare --mount`, as root. */
  'root-mounts': {
    packages: ['util-linux', 'mount'],
    probe: ['unshare', '--mount', 'sh', '-c', TRY_MOUNTS],
  },
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof TOOLS;

/** `redis` is any server of that protocol. The fallback is Valkey (tests/fakes/redis/redis-server.ts). */
export type Need = ToolName | 'redis';

/** Reason for each missing tool, as a sentence for the list of skipped tests. */
export type Missing = Partial<Record<Need, string>>;

const works = ({ probe: [command, ...args] }: Tool) =>
  spawnSync(command, args, { stdio: 'ignore', timeout: 10_000 }).status === 0;

const absent = () => (Object.keys(TOOLS) as ToolName[]).filter((name) => !works(TOOLS[name]));

const MINUTES = 60_000;

const apt = (...args: string[]) =>
  spawnSync('apt-get', args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 5 * MINUTES,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  }).status === 0;

const mayInstall = () =>
  process.getuid?.() === 0 && spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status === 0;

/** Installs missing tools if that is possible. Returns the tools that are still missing. */
export const prepareTools = (): Missing => {
  const missing = absent();
  if (missing.length === 0) return {};
  if (!mayInstall()) {
    const how = (name: ToolName) => `install ${TOOLS[name].packages[0]}, or run as root on Debian`;
    const why = (name: ToolName) =>
      `${name} is missing: ${how(name)}, where it is installed by itself`;
    return Object.fromEntries(missing.map((name) => [name, why(name)]));
  }
  const packages = missing.flatMap((name) => TOOLS[name].packages);
  process.stderr.write(`Installing ${packages.join(', ')} for the tests (once)…\n`);
  const installed =
    apt('update', '-qq') && apt('install', '-y', '-qq', '--no-install-recommends', ...packages);
  const why = installed ? 'it does not work here' : 'apt-get could not install it';
  return Object.fromEntries(absent().map((name) => [name, `${name} is missing: ${why}`]));
};
