/** The tools of a machine that some tests need: how to see that one works, and the packages that bring it. */
import { spawnSync } from 'node:child_process';

export interface Tool {
  /** Debian packages. */
  readonly packages: readonly string[];
  readonly probe: readonly [command: string, ...args: string[]];
}

// A bind mount that is then made read-only is what tests of a read-only workspace do.
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
  /** A browser that runs without a window, with letters to show. */
  chromium: { packages: ['chromium', 'fonts-dejavu-core'], probe: ['chromium', '--version'] },
  /** A server of a test's own, with persistence, and with a command to make clusters. */
  'own-redis': { packages: ['redis-server', 'redis-tools'], probe: ['redis-server', '--version'] },
  /** The right to have a host name of one's own: `unshare --uts`, as root. */
  'root-hostname': {
    packages: ['util-linux', 'hostname'],
    probe: ['unshare', '--uts', 'sh', '-c', 'hostname skein && test "$(uname -n)" = skein'],
  },
  /** The right to mount in a namespace of one's own: `unshare --mount`, as root. */
  'root-mounts': {
    packages: ['util-linux', 'mount'],
    probe: ['unshare', '--mount', 'sh', '-c', TRY_MOUNTS],
  },
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof TOOLS;

/** `redis` is any server of that protocol: where no other can be had, Valkey is (tests/fakes/redis/redis-server.ts). */
export type Need = ToolName | 'redis';

/** Why each missing tool is missing, in a sentence for the list of skipped tests. */
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

/** Installs what is missing where that is possible, and says what is missing after that. */
export const prepareTools = (): Missing => {
  const wanted = absent();
  if (wanted.length === 0) return {};
  if (!mayInstall()) {
    const how = (name: ToolName) => `install ${TOOLS[name].packages[0]}, or run as root on Debian`;
    const why = (name: ToolName) =>
      `${name} is missing: ${how(name)}, where it is installed by itself`;
    return Object.fromEntries(wanted.map((name) => [name, why(name)]));
  }
  const packages = wanted.flatMap((name) => TOOLS[name].packages);
  process.stderr.write(`Installing ${packages.join(', ')} for the tests (once)…\n`);
  const installed =
    apt('update', '-qq') && apt('install', '-y', '-qq', '--no-install-recommends', ...packages);
  const why = installed ? 'it does not work here' : 'apt-get could not install it';
  return Object.fromEntries(absent().map((name) => [name, `${name} is missing: ${why}`]));
};
