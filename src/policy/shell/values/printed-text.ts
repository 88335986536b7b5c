/** Computes the text that a command prints, as far as its own text tells. */
import type {
  Command,
  HereDoc,
  ParsedScript,
  Redirection,
  SyntaxNode,
  Word,
  WordPart,
} from 'unbash';
import { UNKNOWN } from '../shell-word.js';
import { expandWord, textOf, type ValueScope } from './rebuild-words.js';
import { resolveEscapes } from './resolve-escapes.js';
import { fileKey, HARMLESS_TEXT, type KnownText, type ShellValues } from './shell-values.js';

/** Returns the output without its last line ends. Undefined if the text does not tell it. */
export const printedText = (
  script: ParsedScript | undefined,
  scope: ValueScope,
): KnownText | undefined => {
  if (script === undefined) return undefined;
  const isGuessing = scope.values.guess !== undefined;
  const inner = isGuessing ? { ...scope, locals: new Map(scope.locals) } : scope;
  const outputs: KnownText[] = [];
  for (const { command } of script.commands) {
    const found = outputOf(command, undefined, inner);
    if (found !== undefined) outputs.push(found);
    else if (!isGuessing) return undefined;
  }
  if (outputs.length === 0 && script.commands.length > 0) return undefined;
  return {
    text: outputs
      .map(({ text }) => text)
      .join('')
      .replace(/\n+$/, ''),
    isOpen: outputs.some(({ isOpen }) => isOpen),
  };
};

/** Returns the scope that selects a single value of each variable. */
export const valueScope = (values: ShellValues, variant = 0, everywhere = false): ValueScope => ({
  values,
  variant,
  everywhere,
  depth: 0,
  printed: printedText,
});

/** Returns every possible text of the word. */
export const textsOf = (
  word: Word,
  values: ShellValues,
  everywhere = false,
): readonly KnownText[] => {
  const { variants } = values;
  const found: KnownText[] = [];
  for (let variant = 0; variant < variants; variant++) {
    found.push(textOf(word, valueScope(values, variant, everywhere)));
  }
  return found;
};

/** Returns the output of a command with this input. Undefined if the text does not tell it. */
export const outputOf = (
  node: SyntaxNode,
  input: KnownText | undefined,
  scope: ValueScope,
): KnownText | undefined => {
  const { guess } = scope.values;
  if (guess === undefined) return exactOutputOf(node, input, scope);
  const isSimple = node.type === 'Pipeline' || node.type === 'Statement';
  return isSimple ? exactOutputOf(node, input, scope) : guess(node, input, scope);
};

const exactOutputOf = (
  node: SyntaxNode,
  input: KnownText | undefined,
  scope: ValueScope,
): KnownText | undefined => {
  switch (node.type) {
    case 'Statement':
      return outputOf(node.command, input, scope);
    case 'Command':
      return outputOfCommand(node, inputOf(node.redirects, scope) ?? input, scope);
    case 'Pipeline': {
      let text = input;
      for (const command of node.commands) text = outputOf(command, text, scope);
      return text;
    }
    case 'Redirected':
      return outputOf(node.command, inputOf(node.redirects, scope) ?? input, scope);
    case 'BraceGroup':
    case 'Subshell':
      return node.body.commands.length === 1 && node.body.commands[0] !== undefined
        ? outputOf(node.body.commands[0].command, input, scope)
        : undefined;
    default:
      return undefined;
  }
};

/** Returns the text that redirections give to a descriptor. Undefined if there is none or it is unknown. */
export const inputOf = (
  redirects: readonly Redirection[],
  scope: ValueScope,
  descriptor = 0,
): KnownText | undefined => {
  const last = redirects.findLast(
    (redirect) =>
      (redirect.descriptor === undefined
        ? 0
        : redirect.descriptor.type === 'FileDescriptor'
          ? redirect.descriptor.value
          : -1) === descriptor &&
      (redirect.type !== 'Redirect' || redirect.operator.startsWith('<')),
  );
  if (last === undefined) return undefined;
  if (last.type === 'HereDoc') return hereText(last, scope);
  if (last.target === undefined) return undefined;
  if (last.type === 'HereString') {
    const { text, isOpen } = textOf(last.target, scope);
    return { text: `${text}\n`, isOpen };
  }
  const [part] = last.target.parts ?? [];
  if (part?.type === 'ProcessSubstitution') return printedText(part.script, scope);
  const text = scope.values.files.get(fileKey(textOf(last.target, scope).text));
  return text === undefined ? undefined : { text, isOpen: true };
};

const hereText = ({ body, delimiter }: HereDoc, scope: ValueScope): KnownText => {
  if (delimiter?.quoted === true || body.parts === undefined)
    return { text: body.text, isOpen: false };
  let isOpen = false;
  const texts = body.parts.map((part: WordPart) => {
    if (part.type === 'Literal') return part.value.replaceAll(/\\([\\$`])/g, '$1');
    const known = textOf(
      { type: 'Word', text: part.text, value: part.text, pos: 0, end: 0, parts: [part] },
      scope,
    );
    isOpen ||= known.isOpen;
    return known.text;
  });
  return { text: texts.join(''), isOpen };
};

/** Returns the output of a simple command, without regard to its redirected output. */
export const outputOfCommand = (
  node: Command,
  input: KnownText | undefined,
  scope: ValueScope,
): KnownText | undefined => {
  // `$(< file)` prints the file.
  if (node.name === undefined)
    return node.redirects.length > 0 ? input : { text: '', isOpen: false };
  const all = [node.name, ...node.args.filter((arg) => arg.type === 'Word')];
  const expanded = all.map((word) => expandWord(word, scope));
  const isOpen = expanded.some((found) => found.isOpen);
  const [program = '', ...words] = expanded
    .flatMap((found) => found.words)
    .map(({ text: word }) => word);
  const text = PRINTERS.get(program.replace(/^.*\//s, ''))?.(words, input);
  if (text !== undefined) return { text, isOpen: isOpen || (input?.isOpen ?? false) };
  if (scope.values.guess !== undefined) return undefined;
  return printsNumber(program, words) && (!isOpen || program === 'stat')
    ? HARMLESS_TEXT
    : undefined;
};

type Printer = (words: readonly string[], input: KnownText | undefined) => string | undefined;

const echo: Printer = (words) => {
  const at = words.findIndex((word) => !/^-[neE]+$/.test(word));
  const options = (at < 0 ? words : words.slice(0, at)).join('');
  const text = (at < 0 ? [] : words.slice(at)).join(' ');
  return (
    (options.includes('e') ? resolveEscapes(text) : text) + (options.includes('n') ? '' : '\n')
  );
};

const printf: Printer = (words) => {
  const [format = '', ...rest] = words[0] === '--' ? words.slice(1) : words;
  if (format.startsWith('-v')) return '';
  const values = [...rest];
  let text = '';
  do {
    const count = values.length;
    text += resolveEscapes(format).replaceAll(
      /%[-+ #0]*\d*(?:\.(\d+))?([a-zA-Z%])/g,
      (_, length, kind) => {
        if (kind === '%') return '%';
        const value = (values.shift() ?? '').slice(
          0,
          kind === 'c' ? 1 : Number(length ?? Infinity),
        );
        return kind === 'b' ? resolveEscapes(value) : value;
      },
    );
    if (values.length === count) break;
  } while (values.length > 0 && text.length < 10_000);
  return text;
};

const passes: Printer = (words, input) =>
  words.every((word) => /^-./.test(word) || word === '-') ? input?.text : undefined;

const decodes: Printer = (words, input) => {
  if (!words.some((word) => /^(?:-\w*[dD]|--decode)/.test(word)) || input === undefined)
    return undefined;
  return input.text.includes(UNKNOWN)
    ? undefined
    : Buffer.from(input.text, 'base64').toString('utf8');
};

const fromHex: Printer = (words, input) =>
  words.some((word) => /^-\w*r/.test(word)) && input?.text.includes(UNKNOWN) === false
    ? Buffer.from(input.text.replaceAll(/\s/g, ''), 'hex').toString('utf8')
    : undefined;

const reverses: Printer = (_, input) =>
  input?.text
    .split('\n')
    .map((line) => Array.from(line).reverse().join(''))
    .join('\n');

const translates: Printer = ([from = '', to = ''], input) => {
  const [old, fresh] = [spellRange(resolveEscapes(from)), spellRange(resolveEscapes(to))];
  if (from === '-d')
    return input?.text
      .split('')
      .filter((char) => !spellRange(resolveEscapes(to)).includes(char))
      .join('');
  if (from.startsWith('-') || fresh === '') return undefined;
  return input?.text.replaceAll(/[\s\S]/g, (char) => {
    const at = old.indexOf(char);
    return at < 0 ? char : (fresh[Math.min(at, fresh.length - 1)] ?? char);
  });
};

const CLASSES: Readonly<Record<string, string>> = { upper: 'A-Z', lower: 'a-z', digit: '0-9' };

/** Spells `a-e` as `abcde`. */
const spellRange = (text: string): string =>
  text
    .replaceAll(/\[:(upper|lower|digit):\]/g, (_, name: string) => CLASSES[name] ?? '')
    .replaceAll(/([\s\S])-([\s\S])/g, (_, first: string, last: string) => {
      const [start, end] = [first.charCodeAt(0), last.charCodeAt(0)];
      const count = Math.max(0, Math.min(end - start + 1, 256));
      return String.fromCharCode(...Array.from({ length: count }, (__, index) => start + index));
    });

const PRINTERS: ReadonlyMap<string, Printer> = new Map<string, Printer>([
  ['echo', echo],
  ['printf', printf],
  ['cat', passes],
  ['tee', (_, input) => input?.text],
  ['base64', decodes],
  ['xxd', fromHex],
  ['rev', reverses],
  ['tr', translates],
  ['true', () => ''],
  [':', () => ''],
]);

/** True if the program prints only numbers and fixed words, never text of a file or its name. */
const printsNumber = (program: string, words: readonly string[]): boolean => {
  switch (program) {
    case 'wc':
      return words.every((word) => /^-[lwcmL]+$/.test(word));
    case 'grep':
      return (
        words.some((word) => /^-[a-zA-Z]*c/.test(word)) &&
        !words.some((word) => /^-\w*[rRH]/.test(word)) &&
        words.filter((word) => !word.startsWith('-')).length < 3
      );
    case 'git':
      return words[0] === 'rev-list' && words.includes('--count');
    case 'stat':
      return /^(?:-c|-f|--format)=?%[sYXZzm]$/.test(words.slice(0, -1).join(''));
    case 'seq':
    case 'expr':
    case 'date':
    case 'mktemp':
      // They print text of their arguments: a format, a match or a template.
      return words.every((word) => !/[[$`]/.test(word));
    case 'nproc':
    case 'id':
    case 'uname':
    case 'arch':
    case 'whoami':
      return true;
    default:
      return false;
  }
};
