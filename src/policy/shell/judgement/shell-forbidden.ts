/** What no rule, no mode and no person can allow: commands that end the machine or the work on it. */
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
import { isDevice, weigh } from './shell-targets.js';

/** The reason, or undefined when nothing in it is forbidden. */
export const forbidden = (reading: ShellReading, world: ShellWorld): string | undefined => {
  if (reading.isBomb) return 'It starts itself again without end.';
  for (const part of reading.parts) {
    const reason = forbiddenPart(part, reading, world);
    if (reason !== undefined) return reason;
  }
  return undefined;
};

const forbiddenPart = (
  part: ShellPart,
  reading: ShellReading,
  world: ShellWorld,
): string | undefined => {
  const program = programOf(part);
  if (program !== undefined && startsSkein(part)) return 'Agents may not run skein itself.';
  const writes = part.redirects.filter((it) => it.writes).map(({ target }) => target);
  const touched = OPENS_ONLY.has(program ?? '') ? writes : [...writes, ...argumentsOf(part)];
  const devices = touched.flatMap((word) => [
    ...(pathsOf(word, part.dirs, world.home) ?? []),
    ...word.text.split('=').slice(1),
  ]);
  if (devices.some(isDevice) && (writes.length > 0 || WRITERS.test(program ?? ''))) {
    return 'It would write to a disk or to memory directly.';
  }
  const check =
    CHECKS.get(program ?? '') ??
    (/^mkfs(?:\.|$)/.test(program ?? '')
      ? always('It would make an empty file system.')
      : undefined);
  return check?.(part, world, reading);
};

type Check = (part: ShellPart, world: ShellWorld, reading: ShellReading) => string | undefined;

const always =
  (reason: string): Check =>
  () =>
    reason;

const removes: Check = (part, world) => {
  const isWide = hasOption(part, 'rR', 'recursive', 'no-preserve-root');
  return isWide && weigh(operandsOf(part), part, world) === 'vital'
    ? 'It would remove the disk, the system, a home or a folder that holds the workspace.'
    : undefined;
};

const moves: Check = (part, world) =>
  weigh(operandsOf(part).slice(0, -1), part, world) === 'vital'
    ? 'It would take away the disk, the system, a home or a folder that holds the workspace.'
    : undefined;

const mirrors: Check = (part, world) =>
  argumentsOf(part).some(({ text }) => text.startsWith('--del')) &&
  weigh(operandsOf(part).slice(-1), part, world) === 'vital'
    ? 'It would remove whatever is not in the source.'
    : undefined;

const finds: Check = (part, world, { parts }) => {
  const words = argumentsOf(part);
  const end = words.findIndex(({ text }) => /^[-(!]/.test(text) && !/^-[HLPDO]/.test(text));
  const deletes =
    words.some(({ text }) => text === '-delete') ||
    parts.some(
      (it) => it.within.at(-1) === part.words[0]?.text && REMOVERS.has(programOf(it) ?? ''),
    );
  const starts = words
    .slice(0, end < 0 ? undefined : end)
    .filter(({ text }) => !text.startsWith('-'));
  return deletes && weigh(starts, part, world) === 'vital'
    ? 'It would remove files all over the disk, the system or a home.'
    : undefined;
};

const changesModes: Check = (part, world) =>
  hasOption(part, 'R', 'recursive') && weigh(operandsOf(part).slice(1), part, world) === 'vital'
    ? 'It would change the rights of the whole disk, the system or a home.'
    : undefined;

const kills: Check = (part) => {
  const words = argumentsOf(part).map(({ text }) => text);
  const [first = ''] = words;
  // The first word may be a signal: `kill -1 77` is one process, `kill -9 -1` is all of them.
  const targets = /^-(?:[A-Z\d]+|s|n)$/i.test(first) ? words.slice(1) : words;
  return targets.includes('-1') ? 'It would end every process of the user.' : undefined;
};

const killsByName: Check = (part) => {
  const everything = operandsOf(part).some(({ text }) => /^[.*^$]*$/.test(text));
  return everything || hasOption(part, 'uU', 'euid', 'uid', 'user')
    ? 'It would end every process of a user.'
    : undefined;
};

const starts: Check = (part) =>
  /^[06s]$/.test(operandsOf(part)[0]?.text ?? '') ? 'It would stop the machine.' : undefined;

const controls: Check = (part) =>
  /^(?:poweroff|reboot|halt|kexec|suspend|hibernate|emergency|rescue)$/.test(
    operandsOf(part)[0]?.text ?? '',
  )
    ? 'It would stop the machine.'
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
  ['killall5', always('It would end every process.')],
  ['init', starts],
  ['telinit', starts],
  ['systemctl', controls],
  ...['shutdown', 'reboot', 'halt', 'poweroff'].map(
    (name) => [name, always('It would stop the machine.')] as const,
  ),
  ...['mke2fs', 'mkswap', 'wipefs', 'blkdiscard'].map(
    (name) => [name, always('It would make an empty file system.')] as const,
  ),
]);

const REMOVERS = new Set(['rm', 'shred', 'unlink', 'rmdir']);
const WRITERS =
  /^(?:dd|tee|cp|mv|install|ln|rsync|fdisk|sfdisk|sgdisk|gdisk|cfdisk|parted|hdparm|shred|truncate|badblocks|ddrescue|pv)$/;
const OPENS_ONLY = new Set(['ls', 'stat', 'file', 'echo', 'printf', 'test', '[', 'lsblk', 'df']);

/**
 * Agents must not answer their own questions, so the command that answers them is closed to them. The
 * sandbox and signed answers are the real fence.
 */
const startsSkein = (part: ShellPart): boolean => programsOf(part).some(isSkein);

const isSkein = (word: string) => /(^|[/=])skein(\.[cm]?js)?(@.*)?$/.test(word);

const RUNNERS = new Set(
  'npx bunx pnpx npm pnpm yarn bun node tsx deno exec dlx run x script unbuffer'.split(' '),
);

/** The words that may be the program: the first one, and those that follow a program which runs others. */
const programsOf = ({ words }: ShellPart): readonly string[] => {
  const programs: string[] = [];
  let optionMayTakeAWord = false;
  for (const { text } of words) {
    if (/^(-|[A-Za-z_]\w*=|[\d.]+[smhd]?$|--$)/.test(text)) {
      optionMayTakeAWord ||= /^-[A-Za-z]$|^--[a-z-]+$/.test(text);
      continue;
    }
    programs.push(text);
    if (RUNNERS.has(text.slice(text.lastIndexOf('/') + 1))) continue;
    if (!optionMayTakeAWord) break;
    optionMayTakeAWord = false;
  }
  return programs;
};
