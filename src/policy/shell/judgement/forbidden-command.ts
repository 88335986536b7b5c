/** Finds forbidden commands, which no rule, mode or person can allow. */
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
import { lossSeverity } from './loss-severity.js';

/** Returns the reason as a sentence. Returns undefined if no part is forbidden. */
export const forbiddenCommand = (
  reading: ShellReading,
  environment: ShellEnvironment,
): string | undefined => {
  if (reading.isBomb) return 'The command starts itself again without end.';
  for (const part of [...reading.parts, ...reading.rebuilt]) {
    const reason = forbiddenPart(part, reading, environment);
    if (reason !== undefined) return reason;
  }
  return undefined;
};

const forbiddenPart = (
  part: ShellPart,
  reading: ShellReading,
  environment: ShellEnvironment,
): string | undefined => {
  const program = programOf(part);
  if (program !== undefined && startsSkein(part)) return 'Agents may not run skein itself.';
  const writes = part.redirects.filter((redirect) => redirect.writes).map(({ target }) => target);
  const touched = NEVER_WRITES.has(program ?? '') ? writes : [...writes, ...argumentsOf(part)];
  const devices = touched.flatMap((word) => [
    ...(pathsOf(word, part.dirs, environment.home) ?? []),
    ...word.text.split('=').slice(1),
  ]);
  if (devices.some(isDevice) && (writes.length > 0 || WRITERS.test(program ?? ''))) {
    return 'The command would write directly to a disk or to memory.';
  }
  const check =
    CHECKS.get(program ?? '') ??
    (/^mkfs(?:\.|$)/.test(program ?? '')
      ? always('The command would create an empty file system.')
      : undefined);
  return check?.(part, environment, reading);
};

type Check = (
  part: ShellPart,
  environment: ShellEnvironment,
  reading: ShellReading,
) => string | undefined;

const always =
  (reason: string): Check =>
  () =>
    reason;

const removes: Check = (part, environment) => {
  const isWide = hasOption(part, 'rR', 'recursive', 'no-preserve-root');
  return isWide && lossSeverity(operandsOf(part), part, environment) === 'vital'
    ? 'The command would remove the disk, the system, a home or a folder that holds the workspace.'
    : undefined;
};

const moves: Check = (part, environment) =>
  lossSeverity(operandsOf(part).slice(0, -1), part, environment) === 'vital'
    ? 'The command would move away the disk, the system, a home or a folder that holds the workspace.'
    : undefined;

const mirrors: Check = (part, environment) =>
  argumentsOf(part).some(({ text }) => text.startsWith('--del')) &&
  lossSeverity(operandsOf(part).slice(-1), part, environment) === 'vital'
    ? 'The command would remove all files of the target that are not in the source.'
    : undefined;

const finds: Check = (part, environment, { parts, rebuilt }) => {
  const words = argumentsOf(part);
  const end = words.findIndex(({ text }) => /^[-(!]/.test(text) && !/^-[HLPDO]/.test(text));
  const deletes =
    words.some(({ text }) => text === '-delete') ||
    [...parts, ...rebuilt].some(
      (candidate) =>
        candidate.wrappers.at(-1) === part.words[0]?.text &&
        REMOVERS.has(programOf(candidate) ?? ''),
    );
  const starts = words
    .slice(0, end < 0 ? undefined : end)
    .filter(({ text }) => !text.startsWith('-'));
  return deletes && lossSeverity(starts, part, environment) === 'vital'
    ? 'The command would remove files all over the disk, the system or a home.'
    : undefined;
};

const changesModes: Check = (part, environment) =>
  hasOption(part, 'R', 'recursive') &&
  lossSeverity(operandsOf(part).slice(1), part, environment) === 'vital'
    ? 'The command would change the rights of the whole disk, the system or a home.'
    : undefined;

const kills: Check = (part) => {
  const words = argumentsOf(part).map(({ text }) => text);
  const [first = ''] = words;
  // The first word may be a signal: `kill -1 77` signals one process, `kill -9 -1` signals all.
  const targets = /^-(?:[A-Z\d]+|s|n)$/i.test(first) ? words.slice(1) : words;
  return targets.includes('-1') ? 'The command would end every process of the user.' : undefined;
};

const killsByName: Check = (part) => {
  const isEverything = operandsOf(part).some(({ text }) => /^[.*^$]*$/.test(text));
  return isEverything || hasOption(part, 'uU', 'euid', 'uid', 'user')
    ? 'The command would end every process of a user.'
    : undefined;
};

const starts: Check = (part) =>
  /^[06s]$/.test(operandsOf(part)[0]?.text ?? '')
    ? 'The command would stop the machine.'
    : undefined;

const controls: Check = (part) =>
  /^(?:poweroff|reboot|halt|kexec|suspend|hibernate|emergency|rescue)$/.test(
    operandsOf(part)[0]?.text ?? '',
  )
    ? 'The command would stop the machine.'
    : undefined;

const CHECKS = new Map<string, Check>([
  ['rm', removes],
  ['mv', moves],
  ['rsync', mirrors],
  ['find', finds],
  ['chmod', changesModes],
  ['chown', changesModes],
  ['chgrp', changesModes],
  ['kill', kills],
  ['pkill', killsByName],
  ['killall', killsByName],
  ['killall5', always('The command would end every process.')],
  ['init', starts],
  ['telinit', starts],
  ['systemctl', controls],
  ...['shutdown', 'reboot', 'halt', 'poweroff'].map(
    (name) => [name, always('The command would stop the machine.')] as const,
  ),
  ...['mke2fs', 'mkswap', 'wipefs', 'blkdiscard'].map(
    (name) => [name, always('The command would create an empty file system.')] as const,
  ),
]);

const REMOVERS = new Set(['rm', 'shred', 'unlink', 'rmdir']);
const WRITERS =
  /^(?:dd|tee|cp|mv|install|ln|rsync|fdisk|sfdisk|sgdisk|gdisk|cfdisk|parted|hdparm|shred|truncate|badblocks|ddrescue|pv)$/;
/** Programs that do not write to the files that they name. */
const NEVER_WRITES = new Set(['ls', 'stat', 'file', 'echo', 'printf', 'test', '[', 'lsblk', 'df']);

/**
 * True if the part starts `skein`, which could answer the agent's own questions. This check can be evaded; the
 * sandbox and signed answers are the real protection.
 */
const startsSkein = (part: ShellPart): boolean => programsOf(part).some(isSkein);

const isSkein = (word: string) => /(^|[/=])skein(\.[cm]?js)?(@.*)?$/.test(word);

const RUNNERS = new Set(
  'npx bunx pnpx npm pnpm yarn bun node tsx deno exec dlx run x script unbuffer'.split(' '),
);

/** Returns the words that may be the program: the first word, and the words after a runner such as `npx`. */
const programsOf = ({ words }: ShellPart): readonly string[] => {
  const programs: string[] = [];
  let optionMayTakeWord = false;
  for (const { text } of words) {
    if (/^(-|[A-Za-z_]\w*=|[\d.]+[smhd]?$|--$)/.test(text)) {
      optionMayTakeWord ||= /^-[A-Za-z]$|^--[a-z-]+$/.test(text);
      continue;
    }
    programs.push(text);
    if (RUNNERS.has(text.slice(text.lastIndexOf('/') + 1))) continue;
    if (!optionMayTakeWord) break;
    optionMayTakeWord = false;
  }
  return programs;
};

/** True for disks and memory, where a write destroys the contents. */
const isDevice = (path: string): boolean =>
  /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper\/|dm-|md\d|loop\d|mem$|kmem$|port$|zfs|nbd|ram\d)/.test(
    path,
  );
