/**
 * Tells whether a command line starts `skein` itself. Agents must not answer their own questions, so
 * the command that answers them is closed to their tools.
 *
 * A textual check: it sees through quotes, paths and programs that run other programs, and it can
 * still be fooled by a determined shell script. The sandbox and signed answers are the real fence.
 */

export const startsSkein = (command: string): boolean =>
  command
    .replace(/["'\\]/g, '')
    .split(/[;&|`<>(){}\n]+/)
    .some((part) => programsOf(part.trim().split(/\s+/)).some(isSkein));

const isSkein = (word: string) => /(^|[/=])skein(\.[cm]?js)?(@.*)?$/.test(word);

const RUNNERS = new Set(
  `npx bunx pnpx npm pnpm yarn bun node tsx deno exec dlx run x env sudo doas nohup nice ionice time timeout
   setsid stdbuf command builtin eval exec xargs watch strace script bash sh dash zsh then else do if while until !`.split(
    /\s+/,
  ),
);

/** The words that may be the program: the first one, and those that follow a program which runs others. */
const programsOf = (words: readonly string[]): readonly string[] => {
  const programs: string[] = [];
  let optionMayTakeAWord = false;
  for (const word of words) {
    if (isPrelude(word)) {
      optionMayTakeAWord ||= /^-[A-Za-z]$|^--[a-z-]+$/.test(word);
      continue;
    }
    programs.push(word);
    if (RUNNERS.has(word.slice(word.lastIndexOf('/') + 1))) continue;
    if (!optionMayTakeAWord) break;
    optionMayTakeAWord = false;
  }
  return programs;
};

/** Assignments, options and durations come before the program. */
const isPrelude = (word: string) => /^(-|[A-Za-z_]\w*=|[\d.]+[smhd]?$|--$)/.test(word);
