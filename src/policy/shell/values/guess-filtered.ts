/** Guesses the output of a filter or of an unknown program from its input and its arguments. */
import { parse } from 'unbash';

/** Programs that print parts of lines. */
const CUTTERS = new Set(
  'cut awk gawk mawk nawk sed gsed grep egrep fgrep rg tail colrm expr dd perl ruby python python3'.split(
    ' ',
  ),
);
/** Programs that print nothing. */
const SILENT = new Set(
  'cd pushd popd export unset shift sleep mkdir touch rm cp mv ln chmod trap exit return true false wait kill test ['.split(
    ' ',
  ),
);
/** Maximum of characters that a filter may cut off at the beginning of a line. */
const MAX_CUT = 24;
const MAX_LINES = 300;
const MAX_LENGTH = 20_000;

/** Returns the lines that the program may print, or an empty text if there are none. */
export const guessFiltered = (program: string, words: readonly string[], input: string): string => {
  const exact = EXACT.get(program)?.(words, input.slice(0, MAX_LENGTH));
  if (exact !== undefined) return exact;
  if (SILENT.has(program)) return '';
  const texts = [input, ...[input, ...words].flatMap((word) => textsIn(word))];
  const lines = texts.flatMap((text) => text.slice(0, MAX_LENGTH).split('\n'));
  const found = CUTTERS.has(program) ? lines.flatMap(endsOf) : lines;
  const unique = [...new Set(found)].filter((line) => /\S/.test(line)).slice(0, MAX_LINES);
  return unique.length === 0 ? '' : `${unique.map(parsable).join('\n')}\n`;
};

/** Returns the word, and the texts in quotes inside, as code in another language has them. */
const textsIn = (word: string): readonly string[] => {
  const plain = /^-/.test(word) ? [] : [word.replace(/^\+/, '')];
  const quoted = [...word.matchAll(/"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/gs)].map(
    ([, double, single]) => (double ?? single ?? '').replaceAll(/\\(.)/gs, unescaped),
  );
  return [...quoted, ...plain, ...(/^--?[\w-]+=/.test(word) ? [word.replace(/^[^=]*=/, '')] : [])];
};

const unescaped = (_: string, letter: string): string =>
  letter === 'n' ? '\n' : letter === 't' ? '\t' : letter;

/** Returns the line, and what is left of it after each possible cut. */
const endsOf = (line: string): readonly string[] =>
  Array.from({ length: Math.min(MAX_CUT, line.length) }, (_, at) => line.slice(at)).filter(
    (end, at) => at === 0 || /^[\w/.~$]/.test(end),
  );

/** Returns the line without quotes and brackets if they would hide the lines after it from the parser. */
const parsable = (line: string): string =>
  (parse(line).errors ?? []).length === 0 && !line.includes('<<')
    ? line
    : line.replaceAll(/["'`\\(){}<]/g, ' ');

type Filter = (words: readonly string[], input: string) => string | undefined;

const joins: Filter = (words, input) => {
  const isSerial = words.some((word) => /^-\w*s/.test(word));
  return isSerial ? `${input.trim().split('\n').join(' ')}\n` : undefined;
};

const begins: Filter = (words, input) => {
  const at = words.findIndex((word) => /^(?:-c|--bytes)/.test(word));
  const count = Number((words[at] ?? '').replace(/^(?:-c|--bytes=?)/, '') || words[at + 1]);
  return at < 0 || !(count > 0) ? undefined : input.slice(0, count);
};

const substitutes: Filter = (words, input) => {
  const script = words.find((word) => /^[sy]./.test(word));
  const [, name, , from = '', to = '', flags = ''] =
    /^([sy])(.)((?:(?!\2).)*)\2((?:(?!\2).)*)\2([gip\d]*)$/s.exec(script ?? '') ?? [];
  if (name === 'y')
    return input.replaceAll(/[\s\S]/g, (char) => {
      const at = from.indexOf(char);
      return at < 0 ? char : (to[at] ?? char);
    });
  if (name !== 's' || from === '' || /[\\.*[\]^$+?(){}|&]/.test(from + to)) return undefined;
  return input
    .split('\n')
    .map((line) => (flags.includes('g') ? line.replaceAll(from, to) : line.replace(from, to)))
    .join('\n');
};

const decodes: Filter = (words, input) =>
  words.some((word) => /^(?:-\w*[dD]\w*|--d\w*)$/.test(word)) && words.join(' ').includes('64')
    ? Buffer.from(input, 'base64').toString('utf8')
    : undefined;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const decodes32: Filter = (words, input) => {
  if (!words.some((word) => /^(?:-\w*[dD]\w*|--d\w*)$/.test(word))) return undefined;
  const bits = Array.from(input.replaceAll(/[^A-Z2-7]/g, ''), (char) =>
    ALPHABET.indexOf(char).toString(2).padStart(5, '0'),
  ).join('');
  const bytes = bits.match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2))).toString('utf8');
};

const squeezes: Filter = (words, input) => {
  const set = words.find((word) => !word.startsWith('-'));
  if (words.some((word) => /^(?:--del|-\w*d)/.test(word)) && set !== undefined)
    return Array.from(input, (char) => (set.includes(char) ? '' : char)).join('');
  return undefined;
};

/** `xargs` without a program prints its input as one line. */
const lists: Filter = (words, input) => {
  const program = words.find((word) => !/^-|^\d+$/.test(word)) ?? 'echo';
  return program === 'echo' ? `${input.trim().split(/\s+/).join(' ')}\n` : undefined;
};

const EXACT: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ['paste', joins],
  ['fmt', (_, input) => `${input.trim().split(/\s+/).join(' ')}\n`],
  ['head', begins],
  ['sed', substitutes],
  ['openssl', (words, input) => decodes(['-64', ...words], input)],
  ['basenc', decodes],
  ['base64', (words, input) => decodes(['64', ...words], input)],
  ['base32', decodes32],
  ['tr', squeezes],
  ['xargs', lists],
]);
