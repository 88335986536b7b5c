/**
 * Finds dangerous commands, which always need a person's agreement.
 *
 * They destroy data, run downloaded code, change the machine, or change the behaviour of other programs.
 */
import { basename } from 'node:path';
import { isPathInside } from '../../../lib/paths/is-path-inside.js';
import {
  argumentsOf,
  hasOption,
  operandsOf,
  pathsOf,
  programOf,
  type ShellEnvironment,
  type ShellPart,
  type ShellReading,
} from '../shell-part.js';
import { SHELL_PROGRAMS } from '../unwrap-command.js';
import { dangerousGit } from './dangerous-git.js';
import { dangerousVariable } from './dangerous-variable.js';
import { isReadOnlyPart } from './is-read-only-command.js';
import { lossSeverity } from './loss-severity.js';

/** Returns the danger as a sentence. Returns undefined if there is none. */
export const dangerousCommand = (
  reading: ShellReading,
  environment: ShellEnvironment,
): string | undefined => {
  for (const part of [...reading.parts, ...reading.rebuilt]) {
    const reason = dangerousPart(part, environment);
    if (reason !== undefined) return reason;
  }
  return runsDownload(reading.parts, reading.doubts.length > 0) ||
    runsDownload(reading.rebuilt, false)
    ? 'The command runs a file that it downloads.'
    : undefined;
};

const dangerousPart = (part: ShellPart, environment: ShellEnvironment): string | undefined => {
  const program = programOf(part) ?? '';
  const variable = dangerousVariable(part);
  if (variable !== undefined)
    return `The command sets ${variable}, which changes what programs do.`;
  if (readsProgram(part) && part.pipedFrom.some(isDownload))
    return 'The command runs a file that it downloads.';
  const touched = [
    ...part.redirects.filter(({ writes }) => writes).map(({ target }) => target),
    ...(LOOKS_ONLY.test(program) || isReadOnlyPart(part, environment) ? [] : argumentsOf(part)),
  ].flatMap((word) => pathsOf(word, part.dirs, environment.home) ?? []);
  if (touched.some((path) => runsAtStart(path, environment.home))) {
    return 'The command changes a file that runs code or grants access at the next start.';
  }
  const targets = part.redirects.map(({ target }) => target.text);
  if (targets.some((text) => /^\/dev\/(?:tcp|udp)\//.test(text))) {
    return 'The command opens a connection to another machine.';
  }
  return CHECKS.get(program)?.(part, environment);
};

type Check = (part: ShellPart, environment: ShellEnvironment) => string | undefined;

const always =
  (reason: string): Check =>
  () =>
    reason;

const removes: Check = (part, environment) => {
  const operands = operandsOf(part);
  const isRecursive = hasOption(part, 'rR', 'recursive');
  if (argumentsOf(part).some(({ splits }) => splits))
    return 'The files that the command removes are known only at run time.';
  if (!isRecursive) return undefined;
  if (operands.some(({ text }) => /(?:^|\/)\.git\/*$/.test(text)))
    return 'The command removes the history of the repository.';
  return LOSSES[lossSeverity(operands, part, environment)];
};

const LOSSES: Readonly<Record<ReturnType<typeof lossSeverity>, string | undefined>> = {
  vital: 'The command removes files of the system, a home or a folder that holds the workspace.',
  unknown: 'The files that the command removes are known only at run time.',
  outside: 'The command removes a folder outside of the workspace.',
  workspace: 'The command removes all files of the workspace.',
  inside: undefined,
};

const finds: Check = (part, environment) => {
  const words = argumentsOf(part);
  if (!words.some(({ text }) => text === '-delete')) return undefined;
  const end = words.findIndex(({ text }) => /^[-(!]/.test(text));
  const reason = lossSeverity(words.slice(0, end), part, environment);
  return reason === 'workspace' &&
    words.some(({ text }) => /^-i?(?:name|path|regex|newer|mtime)/.test(text))
    ? undefined
    : LOSSES[reason];
};

const changesModes: Check = (part) =>
  hasOption(part, 'R', 'recursive') &&
  /^(?:0?777|a[+=]rwx|\+rwx|ugo[+=]rwx)$/.test(operandsOf(part)[0]?.text ?? '')
    ? 'The command gives all users access to files.'
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
  if (isOpen) return 'The command starts a container with access to the whole machine.';
  const sweeps =
    /^(?:system|volume|image|container|builder|network)$/.test(words[0] ?? '') &&
    words[1] === 'prune';
  return sweeps ? 'The command removes the data of containers.' : undefined;
};

const unlessLooking =
  (reason: string, looking: RegExp): Check =>
  (part) =>
    looking.test(argumentsOf(part)[0]?.text ?? '') ? undefined : reason;

const connects: Check = (part) =>
  hasOption(part, 'ec', 'exec', 'sh-exec', 'lua-exec') ||
  argumentsOf(part).some(({ text }) => /\b(?:exec|system):/i.test(text))
    ? 'The command connects a program to the network.'
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
    ? 'The command changes what other people get from a registry.'
    : undefined;

const REMOTE = 'The command connects to another machine.';
const ROOT = 'The command runs with the rights of another user.';
const MACHINE = 'The command changes the configuration of the machine.';

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
    (name) => [name, always('The command destroys the contents of files.')] as const,
  ),
  ['crontab', unlessLooking('The command schedules another command for later.', /^-l$/)],
  ...['at', 'batch', 'systemd-run'].map(
    (name) => [name, always('The command schedules another command for later.')] as const,
  ),
  ['systemctl', unlessLooking(MACHINE, /^(?:status|show|cat|is-\w+|list-\S+)$/)],
  ...'service launchctl iptables ip6tables nft ufw firewall-cmd mount umount insmod rmmod modprobe useradd usermod userdel groupadd passwd chpasswd visudo chattr swapoff swapon sysctl fdisk sfdisk parted gdisk dpkg-reconfigure update-alternatives kexec'
    .split(' ')
    .map((name) => [name, always(MACHINE)] as const),
  ['enable', always('The command loads code into the shell.')],
  [
    'hash',
    (part) =>
      hasOption(part, 'p') ? 'The command changes which program a name starts.' : undefined,
  ],
]);

/** Programs that run source from standard input if they have no operand. */
const INTERPRETERS =
  /^(?:python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua|tclsh|osascript|pwsh|powershell|Rscript|tsx|ts-node|groovy|scala|julia)$/;
/** Programs that change no file that they name. */
const LOOKS_ONLY =
  /^(?:ls|cat|head|tail|less|more|grep|rg|wc|stat|file|diff|echo|printf|test|\[|source|\.|git|cd)$/;

const isInterpreter = (program: string): boolean =>
  INTERPRETERS.test(program) || SHELL_PROGRAMS.has(program);

const readsProgram = (part: ShellPart): boolean => {
  const program = programOf(part) ?? '';
  if (SHELL_PROGRAMS.has(program)) return true;
  return (
    INTERPRETERS.test(program) &&
    operandsOf(part).every(({ text }) => /^(?:-|\/dev\/(?:stdin|fd\/\d+))$/.test(text))
  );
};

const isDownload = (part: ShellPart) =>
  /^(?:curl|wget|fetch|aria2c|http|https|xh|lwp-request|ftp)$/.test(programOf(part) ?? '');

/**
 * True for `curl -o x.sh … && sh x.sh`, `bash <(curl …)`, `sh -c "$(curl …)"` and the like. Also true if the command
 * line downloads text and runs unknown commands.
 */
const runsDownload = (parts: readonly ShellPart[], isDoubtful: boolean): boolean => {
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
    if (isDoubtful) return true;
    downloads = true;
    const words = [...argumentsOf(part), ...part.redirects.map(({ target }) => target)];
    for (const { text } of words) {
      const name = basename(text.replace(/[?#].*$/s, ''));
      if (name !== '' && !text.startsWith('--')) fetched.add(name);
    }
  }
  return false;
};

/** True for files that run code or grant access at the next start of a shell or of the machine. */
const runsAtStart = (path: string, home: string): boolean =>
  START.test(path.toLowerCase()) ||
  (isPathInside({ path, folder: home }) && HOME_START.test(path.slice(home.length).toLowerCase()));

const START =
  /^\/(?:private\/)?etc\/(?:profile|profile\.d\/.*|bash\.bashrc|bashrc|zshrc|zsh\/.*|environment|crontab|cron\.[^/]+\/.*|rc\.local|systemd\/.*|init\.d\/.*|ld\.so\.preload|sudoers|sudoers\.d\/.*|hosts|passwd|shadow)$|^\/var\/spool\/cron\/|^\/library\/launch(?:agents|daemons)\//;
const HOME_START =
  /^\/\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|cshrc|tcshrc|kshrc|xprofile|xinitrc|xsession|inputrc|gitconfig|npmrc|vimrc|emacs|config\/(?:fish|systemd|autostart|git|nvim)\/.*|ssh\/(?:authorized_keys|config|rc)|local\/bin\/.*)$|^\/library\/launchagents\//;
