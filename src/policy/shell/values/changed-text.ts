/** Computes what an expansion such as `${x%.*}` or `${x:1:2}` makes of a value. */
import type { ParameterOperation, Word } from 'unbash';
import { UNKNOWN } from '../shell-word.js';
import { globPattern } from './glob-pattern.js';
import { resolveEscapes } from './resolve-escapes.js';
import { HARMLESS_TEXT, type KnownText } from './shell-values.js';

interface Expansion {
  /** True for `${a[@]}` and `${@}`, whose elements are separated by blanks. */
  readonly isList: boolean;
  /** True for `${@}`, whose first element has the number 1. */
  readonly isArguments: boolean;
  readonly textOf: (word: Word) => KnownText;
}

export const changedText = (
  value: KnownText,
  operation: ParameterOperation,
  { isList, isArguments, textOf }: Expansion,
): KnownText => {
  const isKnown = !value.text.includes(UNKNOWN);
  const plain = (word: Word | undefined) => (word === undefined ? '' : textOf(word).text);
  const derived = (text: string): KnownText => ({ text, isOpen: value.isOpen });
  switch (operation.type) {
    case 'Default':
      if (/[-=]$/.test(operation.operator) && isKnown && value.text !== '') return value;
      return /[-=+]$/.test(operation.operator) ? textOf(operation.operand) : value;
    case 'Slice': {
      const offset = toNumber(plain(operation.offset));
      const length = operation.length && toNumber(plain(operation.length));
      if (
        !isKnown ||
        offset === undefined ||
        (operation.length !== undefined && length === undefined)
      )
        return { ...value, text: UNKNOWN };
      const end = length === undefined || length < 0 ? length : offset + length;
      if (!isList) return derived(cut(value.text, offset, end));
      const items = value.text.split(/\s+/);
      const first = isArguments ? 1 : 0;
      return derived(cut(items, offset - first, end === undefined ? end : end - first).join(' '));
    }
    case 'Replace': {
      const pattern = globPattern(plain(operation.pattern), value.text);
      const by = textOf(operation.replacement);
      const isOpen = value.isOpen || by.isOpen;
      if (!isKnown || pattern === undefined)
        return { text: UNKNOWN, isOpen: isOpen || !isPlain(value, by) };
      const start = operation.operator === '/#' ? '^' : '';
      const end = operation.operator === '/%' ? '$' : '';
      const flags = operation.operator === '//' ? 'gs' : 's';
      const found = new RegExp(`${start}(?:${pattern})${end}`, flags);
      return { text: value.text.replace(found, () => by.text), isOpen };
    }
    case 'Remove': {
      const pattern = globPattern(
        plain(operation.operand),
        value.text,
        operation.operator.length === 1,
      );
      if (!isKnown || pattern === undefined)
        return { text: UNKNOWN, isOpen: value.isOpen || !isPlain(value) };
      return derived(
        operation.operator.startsWith('#')
          ? value.text.replace(new RegExp(`^(?:${pattern})`, 's'), '')
          : withoutEnd(value.text, pattern, operation.operator.length === 1),
      );
    }
    case 'CaseModification': {
      const isUpper = operation.operator.startsWith('^');
      return derived(changeCase(value.text, isUpper, operation.operator.length === 2));
    }
    case 'Transform':
      switch (operation.operand.text) {
        case 'L':
          return derived(changeCase(value.text, false, true));
        case 'U':
          return derived(changeCase(value.text, true, true));
        case 'u':
          return derived(changeCase(value.text, true, false));
        case 'E':
          return derived(resolveEscapes(value.text));
        default:
          return value;
      }
    case 'Names':
      return HARMLESS_TEXT;
    default:
      return value;
  }
};

const toNumber = (text: string): number | undefined =>
  /^\s*-?\d+\s*$/.test(text) ? Number(text) : text.trim() === '' ? 0 : undefined;

/** Cuts a text or a list. Negative numbers count from its end. */
const cut = <Text extends string | readonly string[]>(
  text: Text,
  from: number,
  to?: number,
): Text => text.slice(from, to) as Text;

const changeCase = (text: string, isUpper: boolean, isWhole: boolean): string => {
  const convert = (part: string) => (isUpper ? part.toUpperCase() : part.toLowerCase());
  return isWhole ? convert(text) : convert(text.slice(0, 1)) + text.slice(1);
};

const withoutEnd = (text: string, pattern: string, isShortest: boolean): string => {
  const whole = new RegExp(`^(?:${pattern})$`, 's');
  const lengths = Array.from({ length: text.length + 1 }, (_, index) => index);
  const at = (isShortest ? lengths.reverse() : lengths).find((index) =>
    whole.test(text.slice(index)),
  );
  return at === undefined ? text : text.slice(0, at);
};

/** True if no value contains a substitution, so that no part of the values does. */
const isPlain = (...known: readonly KnownText[]) => known.every(({ text }) => !/[$`]/.test(text));
