/** Records the values that commands give to variables: assignments, loops, `read`, `printf -v` and arguments. */
import type { Assignment, Command, SyntaxNode, Word } from 'unbash';
import { argumentsOf, programOf, type ShellPart } from '../shell-part.js';
import { plainWord, type ShellWord, UNKNOWN } from '../shell-word.js';
import { inputOf, outputOf, textsOf, valueScope } from './printed-text.js';
import { type KnownText, MAX_TEXTS, OPEN_TEXT, type ShellValues } from './shell-values.js';

/** Called with every name that gets a value. */
export type OnAssigned = (name: string, texts: readonly KnownText[]) => void;

export class ValueTracker {
  private readonly values: ShellValues;
  private readonly onAssigned: OnAssigned;

  constructor(values: ShellValues, onAssigned: OnAssigned) {
    this.values = values;
    this.onAssigned = onAssigned;
  }

  assign(name: string, texts: readonly KnownText[], isAppended = false): void {
    this.values.assign(name, texts, isAppended);
    this.onAssigned(name, this.values.textsOf(name) ?? texts);
  }

  trackAssignment({ name, value, index, append = false }: Assignment): void {
    if (value.type === 'Word') {
      const texts = textsOf(value, this.values);
      this.assign(index === undefined ? name : `${name}[${index.text}]`, texts, append);
      if (index !== undefined) this.addElements(name, texts);
      return;
    }
    const elements = value.elements.map((element) => ({
      texts: textsOf(element, this.values).map(withoutSubscript),
      key: /^\[([^\]]*)\]\+?=/.exec(element.text)?.[1],
    }));
    const start = append ? this.lengthOf(name) : 0;
    for (const [at, { texts, key = String(start + at) }] of elements.entries()) {
      if (at < MAX_ELEMENTS) this.assign(`${name}[${key}]`, texts);
    }
    const joined = {
      text: elements.map(({ texts: [first] }) => first?.text ?? '').join(' '),
      isOpen: elements.some(({ texts }) => texts.some(({ isOpen }) => isOpen)),
    };
    if (append) this.addElements(name, [joined]);
    else for (const key of ['[@]', '[*]']) this.assign(name + key, [joined]);
    if (start === 0) this.assign(name, elements[0]?.texts ?? []);
  }

  /** Appends elements to the text of the whole array. */
  private addElements(name: string, texts: readonly KnownText[]): void {
    const added = texts.map(({ text, isOpen }) => ({ text: ` ${text}`, isOpen }));
    for (const key of ['[@]', '[*]']) this.assign(name + key, added, true);
  }

  private lengthOf(name: string): number {
    let length = 0;
    while (this.values.textsOf(`${name}[${length}]`) !== undefined) length++;
    return length;
  }

  /** Records the values of a loop variable, and of `${x:=y}`. */
  trackNode(node: SyntaxNode): void {
    if (node.type === 'For' || node.type === 'Select') {
      const texts = node.wordlist?.flatMap((word) => this.fieldsOf(word));
      this.assign(node.name.value, (texts ?? this.values.textsOf('@') ?? []).slice(0, MAX_TEXTS));
    } else if (node.type === 'ParameterExpansion' && node.operation?.type === 'Default') {
      if (/=$/.test(node.operation.operator))
        this.assign(node.parameter, textsOf(node.operation.operand, this.values));
    }
  }

  /** Returns the texts of a word of a list, which an unquoted value splits at blanks. */
  private fieldsOf(word: Word): readonly KnownText[] {
    const texts = textsOf(word, this.values);
    if (word.parts === undefined || /["']/.test(word.text)) return texts;
    return texts.flatMap(({ text, isOpen }) =>
      text.split(/\s+/).map((field) => ({ text: field, isOpen })),
    );
  }

  /** Records the values that a builtin sets. `printed` is the text of standard input. */
  trackCommand(node: Command, part: ShellPart, printed: KnownText | undefined): void {
    switch (programOf(part)) {
      case 'export':
      case 'declare':
      case 'typeset':
      case 'local':
      case 'readonly':
        this.trackDeclared(node, argumentsOf(part));
        return;
      case 'shift':
        this.trackShift(Number(argumentsOf(part)[0]?.text ?? 1));
        return;
      case 'read':
        this.trackRead(node, part, printed);
        return;
      case 'mapfile':
      case 'readarray': {
        this.trackLines(lastName(part) ?? 'MAPFILE', this.inputsOf(node, printed));
        return;
      }
      case 'printf':
        this.trackPrintf(node, part);
        return;
      case 'set':
        this.trackSet(argumentsOf(part));
        return;
      default:
        return;
    }
  }

  /** Records `declare "x=y"`, where a quoted word assigns too, and `declare -n x=y`. */
  private trackDeclared(node: Command, words: readonly ShellWord[]): void {
    for (const arg of node.args) {
      if (arg.type === 'Assignment') this.trackAssignment(arg);
    }
    const isReference = words.some(({ text }) => /^-\w*n/.test(text));
    for (const word of words) {
      const [, name, target = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word.text) ?? [];
      if (name === undefined) continue;
      if (isReference) this.values.references.set(name, target);
      const isWord = node.args.every((arg) => arg.type === 'Word' || arg.name !== name);
      if (!isWord || isReference) continue;
      const values = textsOfWord(word).map(({ text, isOpen }) => ({
        text: text.replace(/^[^=]*=/s, ''),
        isOpen,
      }));
      this.assign(name, values);
    }
  }

  private trackShift(count: number): void {
    const texts = this.values.textsOf('@') ?? [];
    const [known] = texts;
    if (known === undefined || !(count > 0)) return;
    const isOpen = texts.some((text) => text.isOpen);
    this.trackArguments(
      known.text
        .split(/\s+/)
        .slice(count)
        .map((text) => ({ ...plainWord(text), values: [{ text, isOpen }] })),
    );
  }

  /** Records an array with an element for each line. */
  private trackLines(name: string, inputs: readonly KnownText[]): void {
    for (const key of ['', '[@]', '[*]']) this.assign(name + key, inputs);
    const [{ text, isOpen } = OPEN_TEXT] = inputs;
    for (const [at, line] of text.split('\n').slice(0, MAX_ELEMENTS).entries())
      this.assign(`${name}[${at}]`, [{ text: line, isOpen }]);
  }

  private inputsOf(node: Command, printed: KnownText | undefined): readonly KnownText[] {
    return this.scopes().map((scope) => inputOf(node.redirects, scope) ?? printed ?? OPEN_TEXT);
  }

  private trackSet(words: readonly ShellWord[]): void {
    const end = words.findIndex(({ text }) => text === '--');
    const first = words.findIndex(({ text }) => !/^[-+]/.test(text));
    if (end >= 0) this.trackArguments(words.slice(end + 1));
    else if (first >= 0) this.trackArguments(words.slice(first));
  }

  private trackRead(node: Command, part: ShellPart, printed: KnownText | undefined): void {
    const names = argumentsOf(part).filter(({ text }) => /^[A-Za-z_]\w*$/.test(text));
    const lines = this.inputsOf(node, printed).map(({ text, isOpen }) => ({
      text: text.replace(/\n.*$/s, '').trim(),
      isOpen,
    }));
    for (const [at, { text: name }] of names.entries()) {
      const isLast = at === names.length - 1;
      const texts = lines.map(({ text, isOpen }) => {
        const fields = text.split(/\s+/);
        const field = isLast ? fields.slice(at).join(' ') : (fields[at] ?? '');
        return { text: names.length === 1 ? text : field, isOpen };
      });
      this.assign(name, texts);
      this.assign(`${name}[@]`, lines);
    }
    if (names.length === 0) this.assign('REPLY', lines);
  }

  private scopes() {
    return Array.from({ length: this.values.variants }, (_, variant) =>
      valueScope(this.values, variant),
    );
  }

  private trackPrintf(node: Command, part: ShellPart): void {
    const at = part.words.findIndex(({ text }) => text === '-v');
    const name = part.words[at + 1]?.text;
    if (at < 0 || name === undefined || name.includes(UNKNOWN)) return;
    const { type, name: program, prefix, pos, end } = node;
    const args = node.args.filter((_, index) => index !== at - 1 && index !== at);
    const bare = { type, name: program, prefix, suffix: args, args, redirects: [], pos, end };
    const texts = this.scopes().map((scope) => outputOf(bare, undefined, scope) ?? OPEN_TEXT);
    this.assign(name, texts);
    const [, array] = /^(\w+)\[0\]$/.exec(name) ?? [];
    if (array !== undefined) this.assign(array, texts);
  }

  /** Records the arguments of a function or a script. */
  trackArguments(words: readonly ShellWord[], first = 1): void {
    for (const [at, word] of words.entries()) {
      if (at < MAX_ELEMENTS) this.assign(String(first + at), textsOfWord(word));
    }
    const from = words.slice(first === 0 ? 1 : 0);
    const known = {
      text: from.map((word) => textsOfWord(word)[0]?.text ?? '').join(' '),
      isOpen: from.some((word) => textsOfWord(word).some(({ isOpen }) => isOpen)),
    };
    for (const name of ['@', '*']) this.assign(name, [known]);
  }
}

/** Maximum of elements of an array, and of arguments, with a record of their own. */
const MAX_ELEMENTS = 32;

export const textsOfWord = (word: ShellWord): readonly KnownText[] =>
  word.values ?? [{ text: word.text, isOpen: false }];

const withoutSubscript = ({ text, isOpen }: KnownText): KnownText => ({
  text: text.replace(/^\[[^\]]*\]\+?=/s, ''),
  isOpen,
});

const lastName = (part: ShellPart): string | undefined =>
  argumentsOf(part).findLast(({ text }) => /^[A-Za-z_]\w*$/.test(text))?.text;
