/**
 * What a person must agree to whatever rules and modes allow: commands that destroy, that run what
 * was fetched from elsewhere, that change the machine, or that change what other programs do.
 */
import { basename } from 'node:path';
import {
  argumentsOf,
  hasOption,
  operandsOf,
  pathsOf,
  programOf,
  type ShellPart,
  type ShellReading,
  type ShellWorld,
} from '../shell-part.js';
import { SHELLS } from '../shell-wrappers.js';
import { dangerousGit } from './shell-git.js';
import { isReadOnlyPart } from './shell-readonly.js';
import { runsAtStart, weigh } from './shell-targets.js';
import { setsDanger } from './shell-variables.js';

/** The reason, or undefined when there is nothing that is dangerous in itself. */
export const dangerous = (reading: ShellReading, world: ShellWorld): string | undefined => {
  for (const part of reading.parts) {
    const reason = dangerousPart(part, world);
    if (reason !== undefined) return reason;
  }
  return runsADownload(reading) ? 'It runs what it downloads.' : undefined;
};

const dangerousPart = (part: ShellPart, world: ShellWorld): string | undefined => {
  const program = programOf(part) ?? '';
  const variable = setsDanger(part);
  if (variable !== undefined) return `It sets ${variable}, which changes what programs do.`;
  if (readsProgram(part) && part.fedBy.some(isDownload)) return 'It runs what it downloads.';
  const touched = [
    ...part.redirects.filter(({ writes }) => writes).map(({ target }) => target),
    ...(LOOKS_ONLY.test(program) || isReadOnlyPart(part, world) ? [] : argumentsOf(part)),
  ].flatMap((word) => pathsOf(word, part.dirs, world.home) ?? []);
  if (touched.some((path) => runsAtStart(path, world.home))) {
    return 'It changes a file that runs, or lets somebody in, at the next start.';
  }
  const targets = part.redirects.map(({ target }) => target.text);
  if (targets.some((text) => /^\/dev\/(?:tcp|udp)\//.test(text))) {
    return 'It opens a connection to another machine.';
  }
  return CHECKS.get(program)?.(part, world);
};

type Check = (part: ShellPart, world: ShellWorld) => string | undefined;

const always =
  (reason: string): Check =>
  () =>
    reason;

const removes: Check = (part, world) => {
  const operands = operandsOf(part);
  const isRecursive = hasOption(part, 'rR', 'recursive');
  if (argumentsOf(part).some(({ splits }) => splits))
    return 'What it removes is known only when it runs.';
  if (!isRecursive) return undefined;
  if (operands.some(({ text }) => /(?:^|\/)\.git\/*$/.test(text)))
    return 'It removes the history of the repository.';
  return WEIGHTS[weigh(operands, part, world)];
};

const WEIGHTS: Readonly<Record<ReturnType<typeof weigh>, string | undefined>> = {
  vital: 'It removes what everything else needs.',
  unknown: 'What it removes is known only when it runs.',
  outside: 'It removes a folder outside of the workspace.',
  workspace: 'It removes everything in the workspace.',
  inside: undefined,
};

const finds: Check = (part, world) => {
  const words = argumentsOf(part);
  if (!words.some(({ text }) => text === '-delete')) return undefined;
  const end = words.findIndex(({ text }) => /^[-(!]/.test(text));
  const reason = weigh(words.slice(0, end), part, world);
  return reason === 'workspace' &&
    words.some(({ text }) => /^-i?(?:name|path|regex|newer|mtime)/.test(text))
    ? undefined
    : WEIGHTS[reason];
};

const changesModes: Check = (part) =>
  hasOption(part, 'R', 'recursive') &&
  /^(?:0?777|a[+=]rwx|\+rwx|ugo[+=]rwx)$/.test(operandsOf(part)[0]?.text ?? '')
    ? 'It opens files to everybody.'
    : undefined;

const containers: Check = (part) => {
  const words = argumentsOf(part).map(({ text }) => text);
  const isOpen = words.some((text, index) => {
    const value = text.includes('=') ? text.slice(text.indexOf('=') + 1) : text.replace(/^-v/, '');
    const isMount =
      /^(?:-v|--volume|--mount)/.test(text) ||
      /^(?:-v|--volume|--mount)$/.test(words[index - 1] ?? '');
    if (
      isMount &&
      /^(?:\/:|~:|\/(?:etc|root|home|var|usr|boot|dev|proc|sys)\b|.*docker\.sock)|(?:source|src)=\/(?:,|$)/.test(
        value,
      )
    )
      return true;
    return /^--(?:privileged|cap-add|security-opt|device)(?:=|$)|^--(?:pid|net|network|ipc|userns|uts)=host$/.test(
      text,
    );
  });
  if (isOpen) return 'It starts a container that reaches the whole machine.';
  const sweeps =
    /^(?:system|volume|image|container|builder|network)$/.test(words[0] ?? '') &&
    words[1] === 'prune';
  return sweeps ? 'It removes what containers have stored.' : undefined;
};

const unlessLooking =
  (reason: string, looking: RegExp): Check =>
  (part) =>
    looking.test(argumentsOf(part)[0]?.text ?? '') ? undefined : reason;

const connects: Check = (part) =>
  hasOption(part, 'ec', 'exec', 'sh-exec', 'lua-exec') ||
  argumentsOf(part).some(({ text }) => /\b(?:exec|system):/i.test(text))
    ? 'It gives another machine a program to talk to.'
    : undefined;

const syncs: Check = (part) => {
  const isRemote = operandsOf(part).some(
    ({ text, dynamic }) => dynamic || /^[^/]+:|^rsync:/.test(text),
  );
  return isRemote || hasOption(part, 'e', 'rsh', 'rsync-path') ? REMOTE : undefined;
};

const publishes: Check = (part) =>
  /^(?:publish|unpublish|deprecate|owner|token|login|adduser|access)$/.test(
    operandsOf(part)[0]?.text ?? '',
  )
    ? 'It changes what others get from a registry.'
    : undefined;

const REMOTE = 'It reaches another machine.';
const ROOT = 'It runs with the rights of somebody else.';
const MACHINE = 'It changes the machine.';

const CHECKS = new Map<string, Check>([
  ['rm', removes],
  ['find', finds],
  ['chmod', changesModes],
  ['git', dangerousGit],
  ['rsync', syncs],
  ...['docker', 'podman', 'nerdctl'].map((name) => [name, containers] as const),
  ...['nc', 'ncat', 'netcat', 'socat'].map((name) => [name, connects] as const),
  ...['npm', 'pnpm', 'yarn', 'cargo', 'gem', 'twine'].map((name) => [name, publishes] as const),
  ...['ssh', 'scp', 'sftp', 'mosh', 'telnet', 'autossh', 'sshfs'].map(
    (name) => [name, always(REMOTE)] as const,
  ),
  ...[
    'sudo',
    'doas',
    'su',
    'pkexec',
    'runuser',
    'run0',
    'chroot',
    'unshare',
    'nsenter',
    'setcap',
  ].map((name) => [name, always(ROOT)] as const),
  ...['truncate', 'shred', 'srm'].map(
    (name) => [name, always('It destroys the contents of files.')] as const,
  ),
  ['crontab', unlessLooking('It runs something later.', /^-l$/)],
  ...['at', 'batch', 'systemd-run'].map(
    (name) => [name, always('It runs something later.')] as const,
  ),
  ['systemctl', unlessLooking(MACHINE, /^(?:status|show|cat|is-\w+|list-\S+)$/)],
  ...'service launchctl iptables ip6tables nft ufw firewall-cmd mount umount insmod rmmod modprobe useradd usermod userdel groupadd passwd chpasswd visudo chattr swapoff swapon sysctl fdisk sfdisk parted gdisk dpkg-reconfigure update-alternatives kexec'
    .split(' ')
    .map((name) => [name, always(MACHINE)] as const),
  ['enable', always('It loads code into the shell.')],
]);

/** Programs that read a program from their input when nothing else is named. */
const INTERPRETERS =
  /^(?:python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua|tclsh|osascript|pwsh|powershell|Rscript|tsx|ts-node|groovy|scala|julia)$/;
const LOOKS_ONLY =
  /^(?:ls|cat|head|tail|less|more|grep|rg|wc|stat|file|diff|echo|printf|test|\[|source|\.|git|cd)$/;

export const isInterpreter = (program: string): boolean =>
  INTERPRETERS.test(program) || SHELLS.has(program);

const readsProgram = (part: ShellPart): boolean => {
  const program = programOf(part) ?? '';
  if (SHELLS.has(program)) return true;
  return (
    INTERPRETERS.test(program) &&
    operandsOf(part).every(({ text }) => /^(?:-|\/dev\/(?:stdin|fd\/\d+))$/.test(text))
  );
};

const isDownload = (part: ShellPart) =>
  /^(?:curl|wget|fetch|aria2c|http|https|xh|lwp-request|ftp)$/.test(programOf(part) ?? '');

/** `curl -o x.sh … && sh x.sh`, `bash <(curl …)`, `sh -c "$(curl …)"`. */
const runsADownload = ({ parts }: ShellReading): boolean => {
  const fetched = new Set<string>();
  let downloads = false;
  for (const part of parts) {
    const program = programOf(part) ?? '';
    if (downloads && isInterpreter(program) && argumentsOf(part).some(({ dynamic }) => dynamic))
      return true;
    const names = [
      part.words[0]?.text ?? '',
      ...(isInterpreter(program) || /^(?:chmod|source|\.)$/.test(program)
        ? argumentsOf(part).map(({ text }) => text)
        : []),
    ];
    if (names.some((name) => fetched.has(basename(name)))) return true;
    if (!isDownload(part)) continue;
    downloads = true;
    const words = [...argumentsOf(part), ...part.redirects.map(({ target }) => target)];
    for (const { text } of words) {
      const name = basename(text.replace(/[?#].*$/s, ''));
      if (name !== '' && !text.startsWith('--')) fetched.add(name);
    }
  }
  return false;
};
