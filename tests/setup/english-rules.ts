/** Measures how often comments, titles of tests and documents use pronouns that name no subject. */
import { commentsOf, type SourceFile } from './source-text.js';

const VAGUE =
  /\b(?:one|ones|those|who|whom|whose|whoever|whatever|what|somebody|someone|nobody|anybody|everybody|everything|nothing|something)\b/gi;

export interface PronounShare {
  readonly pronouns: number;
  readonly words: number;
  /** Pronouns per hundred words. */
  readonly percent: number;
}

/** Code in backticks does not count. */
const shareIn = (texts: readonly string[]): PronounShare => {
  let [pronouns, words] = [0, 0];
  for (const text of texts) {
    const prose = text.replace(/```[\s\S]*?```/g, ' ').replace(/`[^`]*`/g, ' ');
    pronouns += prose.match(VAGUE)?.length ?? 0;
    words += prose.match(/[A-Za-z]+(?:'[a-z]+)?/g)?.length ?? 0;
  }
  return { pronouns, words, percent: words === 0 ? 0 : (100 * pronouns) / words };
};

export const pronounsInComments = (files: readonly SourceFile[]): PronounShare =>
  shareIn(files.flatMap(({ text }) => commentsOf(text)));

/** The first argument of `describe`, `test` and `test.each(…)`. */
const TITLE = /(?:\b(?:describe|test)(?:\.\w+)*|\))\(\s*(['`"])((?:\\.|(?!\1)[^\\\n])+)\1\s*,/g;

export const pronounsInTitles = (files: readonly SourceFile[]): PronounShare =>
  shareIn(files.flatMap(({ text }) => [...text.matchAll(TITLE)].map(([, , title = '']) => title)));

export const pronounsInDocuments = (files: readonly SourceFile[]): PronounShare =>
  shareIn(files.map(({ text }) => text));

/** Files by room: `src/store/…` is in the room `store`. */
export const roomsOf = (
  files: readonly SourceFile[],
): ReadonlyMap<string, readonly SourceFile[]> => {
  const rooms = new Map<string, SourceFile[]>();
  for (const source of files) {
    const room = source.file.split('/')[1] ?? '';
    rooms.set(room, [...(rooms.get(room) ?? []), source]);
  }
  return rooms;
};
