/** The commands that a wrapper program would run: as words, or as shell source. */
import type { ShellPart } from './shell-part.js';
import { joinWords, type ShellWord, UNKNOWN } from './shell-word.js';

export type InnerCommand =
  | {
      readonly kind: 'words';
      readonly words: readonly ShellWord[];
      readonly assigned?: ShellPart['assigned'];
      /** True if the command runs in the shell itself, as in `command cd`. Default: false. */
      readonly sameShell?: boolean;
      /** Words of a `cd` that the wrapper runs first. */
      readonly from?: readonly ShellWord[] | undefined;
    }
  | { readonly kind: 'source'; readonly source: string; readonly sameShell?: boolean };

export interface UnwrappedCommand {
  readonly inner: readonly InnerCommand[];
  /** Sentence that says why the inner command cannot be known. */
  readonly doubt?: string;
  /** True if the wrapper needs no permission of its own, because it only runs the inner commands. */
  readonly transparent: boolean;
}

export const NO_INNER_COMMAND: UnwrappedCommand = { inner: [], transparent: false };

export const doubtfulCommand = (
  doubt: string,
  inner: readonly InnerCommand[] = [],
): UnwrappedCommand => ({
  inner,
  doubt,
  transparent: false,
});

/** Quotes the part in a sentence, at most 80 characters of it. */
export const quotePart = ({ words }: ShellPart) =>
  `"${joinWords(words).replaceAll(UNKNOWN, '…').slice(0, 80)}"`;

export const runsWords = (
  words: readonly ShellWord[],
  more: Partial<InnerCommand & { kind: 'words' }> = {},
): UnwrappedCommand =>
  words.length === 0
    ? NO_INNER_COMMAND
    : { inner: [{ kind: 'words', words, ...more }], transparent: true };

export const runsSource = (
  source: ShellWord | undefined,
  part: ShellPart,
  sameShell = false,
): UnwrappedCommand => {
  if (source === undefined) return NO_INNER_COMMAND;
  if (source.dynamic || source.glob)
    return doubtfulCommand(`The command that ${quotePart(part)} runs is known only at run time.`);
  return { inner: [{ kind: 'source', source: source.text, sameShell }], transparent: true };
};

/** `inner` are the commands that the options may mean. */
export const unclearOptions = (part: ShellPart, inner: readonly InnerCommand[] = []) =>
  doubtfulCommand(
    `The command that ${quotePart(part)} runs cannot be determined from its options.`,
    inner,
  );
