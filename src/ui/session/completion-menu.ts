/** Suggestions under the prompt: commands behind a slash, files behind an at sign. */

import { type Draft, draftOf } from '../../terminal/input/draft.js';
import { COMMANDS } from '../../terminal/input/slash-commands.js';

export interface Suggestion {
  /** What stands in the draft when it is taken. */
  readonly text: string;
  readonly detail: string;
}

export interface Completion {
  /** What of the draft it would replace. */
  readonly from: number;
  readonly to: number;
  readonly suggestions: readonly Suggestion[];
}

const MOST = 50;
/** Far more than anybody types of a path. */
const LONGEST_QUERY = 200;
/** A file that is being named, with or without a quote that is open. */
const MENTION = new RegExp(
  `(?:^|\\s)@(?:"([^"\\n]{0,${LONGEST_QUERY}})|([^\\s@"]{0,${LONGEST_QUERY}}))$`,
);
/** What cannot stand in a line, cannot be seen or turns the writing round; not the joiners of emoji. */
const UNSPEAKABLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u;

/** Undefined where there is nothing to complete. */
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

/** As one word of a prompt, whatever stands in the name. */
const spelled = (file: string): string => {
  if (!/[\s"'\\]/.test(file)) return file;
  return file.includes('"') ? file.replaceAll(/[\s"'\\]/g, '\\$&') : `"${file}"`;
};

const commandsFor = (typed: string, at: number): Completion | undefined => {
  const suggestions = COMMANDS.filter(({ name }) => name.startsWith(typed)).map(
    ({ name, arguments: rest, help }) => ({
      text: rest === '' ? `/${name}` : `/${name} `,
      detail: `${rest === '' ? '' : `${rest}  `}${help}`,
    }),
  );
  return suggestions.length === 0 ? undefined : { from: 0, to: at, suggestions };
};

/** Those whose name begins with it, then whose name has it, then whose path has it; as they come within each. */
const filesFor = (query: string, files: readonly string[]): readonly string[] => {
  const wanted = query.toLowerCase();
  const kinds: [string[], string[], string[]] = [[], [], []];
  for (const file of files) {
    const path = file.toLowerCase();
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (UNSPEAKABLE.test(file)) continue;
    if (path.startsWith(wanted) || name.startsWith(wanted)) kinds[0].push(file);
    else if (name.includes(wanted)) kinds[1].push(file);
    else if (path.includes(wanted)) kinds[2].push(file);
    if (kinds[0].length === MOST) break;
  }
  return kinds.flat().slice(0, MOST);
};

/** The one thing that could be suggested stands there already. */
const isComplete = ({ text, at }: Draft, completion: Completion | undefined): boolean => {
  const [only, ...others] = completion?.suggestions ?? [];
  return others.length === 0 && only?.text === text.slice(completion?.from, at);
};

export class CompletionMenu {
  private readonly files: () => readonly string[] | undefined;
  private completion: Completion | undefined;
  /** The draft that somebody did not want completed. */
  private dismissed: string | undefined;
  chosen = 0;

  /** `files` is asked when it is needed, and undefined while they are looked for. */
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
    const former = this.suggestions[this.chosen]?.text;
    const completion = completionAt(draft, wantsFiles ? this.files() : undefined);
    this.completion = isComplete(draft, completion) ? undefined : completion;
    const kept = this.suggestions.findIndex(({ text }) => text === former);
    this.chosen = Math.max(0, kept);
  }

  /** False where there is no other to choose. */
  move(by: number): boolean {
    const last = this.suggestions.length - 1;
    this.chosen = Math.max(0, Math.min(last, this.chosen + by));
    return last > 0;
  }

  close(): void {
    this.completion = undefined;
  }

  dismiss(draft: Draft): void {
    this.dismissed = draft.text;
    this.completion = undefined;
  }

  /** The draft with what is chosen in it; undefined when there is nothing to choose. */
  take({ text }: Draft): Draft | undefined {
    const { completion, chosen } = this;
    const suggestion = completion?.suggestions[chosen];
    if (completion === undefined || suggestion === undefined) return undefined;
    this.completion = undefined;
    const before = `${text.slice(0, completion.from)}${suggestion.text}`;
    return { ...draftOf(before + text.slice(completion.to)), at: before.length };
  }

  /** Enter takes a suggestion, unless what was typed is one already. */
  isTyped({ text, at }: Draft): boolean {
    const { completion, chosen } = this;
    const suggestion = completion?.suggestions[chosen];
    if (completion === undefined || suggestion === undefined) return true;
    return text.slice(completion.from, at) === suggestion.text.trimEnd();
  }
}
