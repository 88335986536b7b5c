/** What a program that runs others would run: words, or a text in the language of the shell. */
import type { ShellPart } from './shell-part.js';
import { joinWords, type ShellWord, UNKNOWN } from './shell-words.js';

export type Inner =
  | {
      readonly kind: 'words';
      readonly words: readonly ShellWord[];
      readonly assigned?: ShellPart['assigned'];
      /** It runs in the shell itself: `command cd` moves. */
      readonly sameShell?: boolean;
      /** A `cd` that comes first, as words. */
      readonly from?: readonly ShellWord[] | undefined;
    }
  | { readonly kind: 'source'; readonly source: string; readonly sameShell?: boolean };

export interface Unwrapped {
  readonly inner: readonly Inner[];
  readonly doubt?: string;
  /** The wrapper needs no permission of its own when what it runs has one. */
  readonly transparent: boolean;
}

export const NOTHING: Unwrapped = { inner: [], transparent: false };

export const doubtful = (doubt: string, inner: readonly Inner[] = []): Unwrapped => ({
  inner,
  doubt,
  transparent: false,
});

export const quoted = ({ words }: ShellPart) =>
  `"${joinWords(words).replaceAll(UNKNOWN, '…').slice(0, 80)}"`;

export const runs = (
  words: readonly ShellWord[],
  more: Partial<Inner & { kind: 'words' }> = {},
): Unwrapped =>
  words.length === 0 ? NOTHING : { inner: [{ kind: 'words', words, ...more }], transparent: true };

export const runsSource = (
  source: ShellWord | undefined,
  part: ShellPart,
  sameShell = false,
): Unwrapped => {
  if (source === undefined) return NOTHING;
  if (source.dynamic || source.glob)
    return doubtful(`What ${quoted(part)} runs is known only when it runs.`);
  return { inner: [{ kind: 'source', source: source.text, sameShell }], transparent: true };
};

export const unclearOptions = (part: ShellPart) =>
  doubtful(`Which command ${quoted(part)} runs cannot be told from its options.`);
