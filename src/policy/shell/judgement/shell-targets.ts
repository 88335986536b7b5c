/** How bad it would be to lose a place, or to have it changed: for commands that destroy. */
import { basename, dirname, sep } from 'node:path';
import { isInside } from '../../paths/path-policy.js';
import { pathsOf, type ShellPart, type ShellWorld } from '../shell-part.js';
import type { ShellWord } from '../shell-words.js';

/** From worst to harmless; `unknown` is what only the running shell can tell. */
export type Weight = 'vital' | 'unknown' | 'outside' | 'workspace' | 'inside';

const ORDER: readonly Weight[] = ['vital', 'unknown', 'outside', 'workspace', 'inside'];

const SYSTEM = new Set(
  '/bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /usr /usr/bin /usr/lib /usr/local /var /var/lib /Users /System /Library /Applications /Volumes /private /private/etc /private/var'.split(
    ' ',
  ),
);

/** The worst of the places that these words name. */
export const weigh = (
  words: readonly ShellWord[],
  { dirs, isLost }: ShellPart,
  world: ShellWorld,
): Weight => {
  const weights = new Set<Weight>();
  for (const word of words) {
    const paths = pathsOf(word, dirs, world.home);
    if (paths === undefined || (isLost && !word.text.startsWith('/'))) weights.add('unknown');
    for (const path of paths ?? []) weights.add(weighPath(path, word.glob, world));
  }
  return ORDER.find((weight) => weights.has(weight)) ?? 'inside';
};

const weighPath = (path: string, glob: boolean, world: ShellWorld): Weight => {
  // `/*` is all of `/`, and so is `/.*`; `/u*` may be any of its folders.
  const isEverything = glob && /^[.*?![\]^]+$/.test(basename(path));
  const place = isEverything ? dirname(path) : path;
  const places = [place, world.realPath(place)];
  if (places.some((it) => isVital(it, world))) return 'vital';
  if (glob && !isEverything && isVital(dirname(place), world)) return 'unknown';
  if (places.some((it) => isRoot(it, world))) return 'workspace';
  const bases = world.roots.flatMap((root) => [root, world.realPath(root)]);
  const isWithin = (it: string) => bases.some((base) => isInside(base, it, world.ignoreCase));
  return places.every(isWithin) ? 'inside' : 'outside';
};

/** The root of the disk, the home, what holds either of them or the workspace, the system. */
const isVital = (path: string, world: ShellWorld): boolean =>
  path === sep ||
  SYSTEM.has(path) ||
  isInside(path, world.home, world.ignoreCase) ||
  (world.roots.some((root) => isInside(path, root, world.ignoreCase)) && !isRoot(path, world));

const isRoot = (path: string, { roots, ignoreCase }: ShellWorld): boolean =>
  roots.some((root) => isInside(path, root, ignoreCase) && isInside(root, path, ignoreCase));

/** Disks and memory, where writing destroys what is on them. */
export const isDevice = (path: string): boolean =>
  /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper\/|dm-|md\d|loop\d|mem$|kmem$|port$|zfs|nbd|ram\d)/.test(
    path,
  );

/** Files that run, or let somebody in, the next time a shell or a machine starts. */
export const runsAtStart = (path: string, home: string): boolean =>
  START.test(path.toLowerCase()) ||
  (isInside(home, path) && HOME_START.test(path.slice(home.length).toLowerCase()));

const START =
  /^\/(?:private\/)?etc\/(?:profile|profile\.d\/.*|bash\.bashrc|bashrc|zshrc|zsh\/.*|environment|crontab|cron\.[^/]+\/.*|rc\.local|systemd\/.*|init\.d\/.*|ld\.so\.preload|sudoers|sudoers\.d\/.*|hosts|passwd|shadow)$|^\/var\/spool\/cron\/|^\/library\/launch(?:agents|daemons)\//;
const HOME_START =
  /^\/\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|cshrc|tcshrc|kshrc|xprofile|xinitrc|xsession|inputrc|gitconfig|npmrc|vimrc|emacs|config\/(?:fish|systemd|autostart|git|nvim)\/.*|ssh\/(?:authorized_keys|config|rc)|local\/bin\/.*)$|^\/library\/launchagents\//;
