/** Completion menu under the prompt: commands behind a slash, files behind an at sign. */

import { type Draft, draftOf } from '../../terminal/input/draft.js';
import { SLASH_COMMANDS } from '../../terminal/input/slash-commands.js';

interface Suggestion {
  /** Text to insert into the draft. */
  readonly text: string;
  readonly detail: string;
}

export interface Completion {
  /** Range of the draft to replace, in UTF-16 units. */
  readonly from: number;
  readonly to: number;
  readonly suggestions: readonly Suggestion[];
}

const MAX_SUGGESTIONS = 50;
const MAX_QUERY_LENGTH = 200;
/** File mention at the cursor, with or without an opening quote. */
const MENTION = new RegExp(
  `(?:^|\\s)@(?:"([^"\\n]{0,${MAX_QUERY_LENGTH}})|([^\\s@"]{0,${MAX_QUERY_LENGTH}}))$`,
);
/** Control, invisible and direction-changing characters, except emoji joiners. */
const UNPRINTABLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u;

/** Returns undefined if there is no suggestion. */
export const completionAt = (
  { text, at }: Draft,
  files: readonly string[] | undefined,
): Completion | undefined => {
  const before = text.slice(0, at);
  if (/^\/[\w-]*$/.test(before)) return commandsFor(before.slice(1).toLowerCase(), at);
  const mention = MENTION.exec(before);
  if (mention === null || files === undefined) return undefined;
  const [named, quoted, plain = ''] = mention;
  const suggestions = filesFor(quoted ?? plain, files).map((file) => ({
    text: `@${spelled(file)} `,
    detail: '',
  }));
  const from = at - named.trimStart().length;
  return suggestions.length === 0 ? undefined : { from, to: at, suggestions };
};

/** Quotes or escapes a file name so that it is one word of the prompt. */
const spelled = (file: string): string => {
  if (!/[\s"'\\]/.test(file)) return file;
  return file.includes('"') ? file.replaceAll(/[\s"'\\]/g, '\\$&') : `"${file}"`;
};

const commandsFor = (typed: string, at: number): Completion | undefined => {
  const suggestions = SLASH_COMMANDS.filter(({ name }) => name.startsWith(typed)).map(
    ({ name, arguments: rest, help }) => ({
      text: rest === '' ? `/${name}` : `/${name} `,
      detail: rest === '' ? help : `${rest}  ${help}`,
    }),
  );
  return suggestions.length === 0 ? undefined : { from: 0, to: at, suggestions };
};

/** Returns files by match: path or name starts with the query, name contains it, path contains it. Keeps the order within each. */
const filesFor = (query: string, files: readonly string[]): readonly string[] => {
  const needle = query.toLowerCase();
  const kinds: [string[], string[], string[]] = [[], [], []];
  for (const file of files) {
    const path = file.toLowerCase();
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (UNPRINTABLE.test(file)) continue;
    if (path.startsWith(needle) || name.startsWith(needle)) kinds[0].push(file);
    else if (name.includes(needle)) kinds[1].push(file);
    else if (path.includes(needle)) kinds[2].push(file);
    if (kinds[0].length === MAX_SUGGESTIONS) break;
  }
  return kinds.flat().slice(0, MAX_SUGGESTIONS);
};

/** True if the only suggestion is already typed. */
const isComplete = ({ text, at }: Draft, completion: Completion | undefined): boolean => {
  const [single, ...others] = completion?.suggestions ?? [];
  return others.length === 0 && single?.text === text.slice(completion?.from, at);
};

export class CompletionMenu {
  private readonly files: () => readonly string[] | undefined;
  private completion: Completion | undefined;
  /** Draft for which the person closed the menu. */
  private dismissed: string | undefined;
  chosen = 0;

  /** `files` is called on demand, and returns undefined during the first search. */
  constructor(files: () => readonly string[] | undefined) {
    this.files = files;
  }

  get suggestions(): readonly Suggestion[] {
    return this.completion?.suggestions ?? [];
  }

  get isOpen(): boolean {
    return this.completion !== undefined;
  }

  update(draft: Draft): void {
    if (draft.text === this.dismissed) return;
    this.dismissed = undefined;
    const wantsFiles = MENTION.test(draft.text.slice(0, draft.at));
    const chosenText = this.suggestions[this.chosen]?.text;
    const completion = completionAt(draft, wantsFiles ? this.files() : undefined);
    this.completion = isComplete(draft, completion) ? undefined : completion;
    const kept = this.suggestions.findIndex(({ text }) => text === chosenText);
    this.chosen = Math.max(0, kept);
  }

  /** Moves the choice. Returns false if there is only one suggestion. */
  move(offset: number): boolean {
    const last = this.suggestions.length - 1;
    this.chosen = Math.max(0, Math.min(last, this.chosen + offset));
    return last > 0;
  }

  close(): void {
    this.completion = undefined;
  }

  dismiss(draft: Draft): void {
    this.dismissed = draft.text;
    this.completion = undefined;
  }

  /** Returns the draft with the chosen suggestion; undefined if the menu is closed. */
  accept({ text }: Draft): Draft | undefined {
    const { completion, chosen } = this;
    const suggestion = completion?.suggestions[chosen];
    if (completion === undefined || suggestion === undefined) return undefined;
    this.completion = undefined;
    const before = `${text.slice(0, completion.from)}${suggestion.text}`;
    return { ...draftOf(before + text.slice(completion.to)), at: before.length };
  }

  /** True if the chosen suggestion is already typed, so that Enter sends the draft. */
  isFullyTyped({ text, at }: Draft): boolean {
    const { completion, chosen } = this;
    const suggestion = completion?.suggestions[chosen];
    if (completion === undefined || suggestion === undefined) return true;
    return text.slice(completion.from, at) === suggestion.text.trimEnd();
  }
}
