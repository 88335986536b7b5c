/**
 * Finds text that the shell evaluates a second time, as arithmetic, as the name of a variable or as a prompt.
 *
 * Such text can contain a command: `x='a[$(rm y)]'` runs it in `$((x))`, `${!x}`, `[[ x -eq 1 ]]` and
 * `test -v "$x"`, and `x='$(rm y)'` runs it in `${x@P}`.
 */
import type { SyntaxNode, Word } from 'unbash';
import { argumentsOf, programOf, type ShellPart } from '../shell-part.js';
import { mapText, plainWord, type ShellWord, UNKNOWN } from '../shell-word.js';

/** `expanded`: like text in double quotes. `source`: a command line. */
export type EvaluationKind = 'arithmetic' | 'name' | 'expanded' | 'source';

/** Text of the syntax tree that is evaluated. */
export interface NodeEvaluation {
  readonly kind: EvaluationKind;
  readonly word: Word;
}

const wordOf = (text: string): Word => ({ type: 'Word', text, value: text, pos: 0, end: 0 });
/** Word that stands for the value of a variable. */
const variableWord = (name: string): Word => ({
  ...wordOf(`$${name}`),
  parts: [{ type: 'SimpleExpansion', text: `$${name}`, pos: 0, end: 0 }],
});

/** Returns the evaluations of the node itself, not of its children. */
export const nodeEvaluations = (node: SyntaxNode): readonly NodeEvaluation[] => {
  const arithmetic = (...words: readonly (Word | undefined)[]): readonly NodeEvaluation[] =>
    words.flatMap((word) => (word === undefined ? [] : [{ kind: 'arithmetic', word }]));
  switch (node.type) {
    case 'ArithmeticWord':
      return arithmetic({ ...wordOf(node.value), ...partsOfArithmetic(node) });
    case 'ArithmeticCommandExpansion':
      return arithmetic({
        ...wordOf(node.text),
        parts: [{ type: 'CommandExpansion', text: node.text, script: node.script, pos: 0, end: 0 }],
      });
    case 'ParameterExpansion': {
      const index = node.index === undefined || /^[@*]$/.test(node.index.text) ? [] : [node.index];
      const isName = node.prefix === '!' && node.operation?.type !== 'Names' && !isAllItems(node);
      const isPrompt = node.operation?.type === 'Transform' && node.operation.operand.text === 'P';
      const word = variableWord(node.parameter);
      return [
        ...arithmetic(...index),
        ...(isName ? [{ kind: 'name', word } as const] : []),
        ...(isPrompt ? [{ kind: 'expanded', word } as const] : []),
      ];
    }
    case 'Slice':
      return arithmetic(node.offset, node.length);
    case 'Assignment':
      return arithmetic(
        node.index,
        ...(node.value.type === 'ArrayValue' ? node.value.elements.flatMap(subscriptOf) : []),
      );
    case 'TestBinary':
      return /^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)
        ? arithmetic(node.left, node.right)
        : [];
    case 'TestUnary':
      return /^-[vR]$/.test(node.operator) ? [{ kind: 'name', word: node.operand }] : [];
    default:
      return [];
  }
};

/** The parser gives no parts to a word that is a single variable, such as `$x`. */
const partsOfArithmetic = (node: SyntaxNode & { type: 'ArithmeticWord' }) => {
  if (node.parts !== undefined) return { parts: node.parts };
  const [, name] = /^\$\{?(\w+|[@*])\}?$/.exec(node.value) ?? [];
  return name === undefined ? {} : { parts: variableWord(name).parts };
};

const isAllItems = ({ index }: SyntaxNode & { type: 'ParameterExpansion' }) =>
  index !== undefined && /^[@*]$/.test(index.text);

/** Returns `k` of `[k]=v`. */
const subscriptOf = (element: Word): readonly Word[] => {
  const [, subscript] = /^\[(.*)\]\+?=/s.exec(element.text) ?? [];
  if (subscript === undefined) return [];
  // The substitutions of the element are read as part of the element.
  return [element.parts === undefined ? wordOf(subscript) : element];
};

/** Argument of a builtin that the shell evaluates. */
export interface WordEvaluation {
  readonly kind: EvaluationKind;
  readonly word: ShellWord;
}

/** Returns the arguments that a builtin evaluates. */
export const wordEvaluations = (part: ShellPart): readonly WordEvaluation[] => {
  const program = programOf(part) ?? '';
  const found = BUILTINS.get(program)?.(part) ?? [];
  // These shells also evaluate operands of `test` and numbers of `printf`.
  if (!part.wrappers.some((name) => /(?:^|\/)(?:zsh|m?ksh)$/.test(name))) return found;
  return /^(?:test|\[|printf|return|exit|shift|typeset|export|integer)$/.test(program)
    ? [...found, ...argumentsOf(part).map((word) => ({ kind: 'arithmetic', word }) as const)]
    : found;
};

type Builtin = (part: ShellPart) => readonly WordEvaluation[];

const names = (words: readonly (ShellWord | undefined)[]): readonly WordEvaluation[] =>
  words.flatMap((word) => (word === undefined ? [] : [{ kind: 'name', word }]));

/** Returns the operands, and the values of options by letter. */
const operandsAndValues = (part: ShellPart, valueLetters: string) => {
  const operands: ShellWord[] = [];
  const values = new Map<string, ShellWord>();
  const words = argumentsOf(part);
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? plainWord('');
    if (word.text === '--' && operands.length === 0) {
      operands.push(...words.slice(at + 1));
      break;
    }
    if (!/^-./.test(word.text) || operands.length > 0) {
      operands.push(word);
      continue;
    }
    const letter = word.text
      .slice(1)
      .split('')
      .find((char) => valueLetters.includes(char));
    if (letter === undefined) continue;
    const from = word.text.indexOf(letter) + 1;
    values.set(
      letter,
      from === word.text.length
        ? (words[++at] ?? plainWord(''))
        : mapText(word, (text) => text.slice(from)),
    );
  }
  return { operands, values };
};

/** True if the whole word is text of a file or a program, so that it may be an option. */
const isOpenWord = ({ values = [] }: ShellWord): boolean =>
  values.some(({ text, isOpen }) => isOpen && text === UNKNOWN);

/** The operand of `-v` and `-R`, also where a variable may hold the operator or both. */
const tests: Builtin = (part) => {
  const words = argumentsOf(part).filter(({ text }) => text !== ']');
  const [only] = words;
  if (words.length === 1 && only?.splits === true && isOpenWord(only)) return names([only]);
  return names(
    words.filter((_, index) => {
      const before = words[index - 1];
      if (before === undefined) return false;
      const texts = [before.text, ...(before.values ?? []).map(({ text }) => text)];
      return texts.some((text) => /^-[vR]$/.test(text)) || isOpenWord(before);
    }),
  );
};

const prints: Builtin = (part) => {
  const { operands, values } = operandsAndValues(part, 'v');
  const option = operands[0]?.values?.some(({ text }) => text === '-v') === true;
  // A first operand that is unknown may be `-v` with or without its name.
  const isOpen = operands[0] !== undefined && operands.length > 1 && isOpenWord(operands[0]);
  const writesCount = /%[-+ #0-9.*']*[hlLjztq]*n/.test(
    operands[0]?.text.replaceAll('%%', '') ?? '',
  );
  return names([
    values.get('v'),
    ...(option ? [operands[1]] : []),
    ...(isOpen ? operands.slice(0, 2) : []),
    ...(writesCount ? operands.slice(1) : []),
  ]);
};

const reads: Builtin = (part) => {
  const { operands, values } = operandsAndValues(part, 'adinNptu');
  return names([...operands, values.get('a')]);
};

const declares: Builtin = (part) => {
  const words = argumentsOf(part);
  const flags = words.filter(({ text, dynamic }) => !dynamic && /^[-+]/.test(text));
  const has = (letter: string) =>
    flags.some(({ text }) => text.startsWith('-') && text.includes(letter));
  return words
    .filter((word) => !flags.includes(word))
    .flatMap((word): readonly WordEvaluation[] => {
      const name = mapText(word, (text) => text.replace(/\+?=.*$/s, ''));
      const value = mapText(word, (text) => text.replace(/^[^=]*=?/s, ''));
      return [
        ...(/^\w+\+?=/.test(word.text) ? [] : names([name])),
        ...(has('i') ? [{ kind: 'arithmetic', word: value } as const] : []),
        ...(has('n') ? names([value]) : []),
        ...(has('a') || has('A') ? [{ kind: 'expanded', word: value } as const] : []),
      ];
    });
};

const unsets: Builtin = (part) => names(operandsAndValues(part, '').operands);
const waits: Builtin = (part) => names([operandsAndValues(part, 'p').values.get('p')]);
const maps: Builtin = (part) => {
  const callback = operandsAndValues(part, 'dnOsuCc').values.get('C');
  return callback === undefined ? [] : [{ kind: 'source', word: callback }];
};
const completes: Builtin = (part) => {
  const { values } = operandsAndValues(part, 'oAGWFCXPS');
  const [command, list] = [values.get('C'), values.get('W')];
  return [
    ...(command === undefined ? [] : [{ kind: 'source', word: command } as const]),
    ...(list === undefined ? [] : [{ kind: 'expanded', word: list } as const]),
  ];
};
const binds: Builtin = (part) => {
  const key = operandsAndValues(part, 'x').values.get('x');
  return key === undefined
    ? []
    : [{ kind: 'source', word: mapText(key, (text) => text.replace(/^[^:]*:\s*/s, '')) }];
};
const aliases: Builtin = (part) =>
  argumentsOf(part)
    .filter(({ text }) => text.includes('='))
    .map((word) => ({
      kind: 'source',
      word: mapText(word, (text) => text.slice(text.indexOf('=') + 1)),
    }));

const BUILTINS: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ['test', tests],
  ['[', tests],
  ['printf', prints],
  ['read', reads],
  ['let', (part) => argumentsOf(part).map((word) => ({ kind: 'arithmetic', word }))],
  ...['declare', 'typeset', 'local'].map((name) => [name, declares] as const),
  ['unset', unsets],
  ['getopts', (part) => names([part.words[2]])],
  ['wait', waits],
  ...['mapfile', 'readarray'].map((name) => [name, maps] as const),
  ...['complete', 'compgen'].map((name) => [name, completes] as const),
  ['bind', binds],
  ['alias', aliases],
]);

/** Returns how the shell evaluates the value of a variable that has a meaning for it. Undefined if it does not. */
export const evaluatedVariable = (name: string): EvaluationKind | undefined => {
  if (/^PROMPT_COMMAND$/.test(name)) return 'source';
  if (/^(?:PS[0-4]|BASH_ENV|ENV)$/.test(name)) return 'expanded';
  return /^(?:RANDOM|SRANDOM|OPTIND|HISTCMD|SECONDS|LINENO)$/.test(name) ? 'arithmetic' : undefined;
};

/** Returns a command line that runs the substitutions of a text which is expanded like text in double quotes. */
export const expandedSource = (text: string): string =>
  `: <<END_OF_TEXT\n${text.replaceAll('END_OF_TEXT', '')}\nEND_OF_TEXT\n`;
