/** Finds the blocks of private keys in a text, whole or cut off, and empties them line by line. */

const KEY_BEGINS = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_ENDS = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

/** As many lines as before, so that line numbers stay true. */
export const hidePrivateKeys = (text: string, placeholder: string): string => {
  if (!text.includes('PRIVATE KEY')) return text;
  const ends = [...text.matchAll(KEY_ENDS)].map(({ index, 0: line }) => ({ index, line }));
  let clean = '';
  let done = 0;
  let next = 0;
  for (const { index, 0: line } of text.matchAll(KEY_BEGINS)) {
    if (index < done) continue;
    const body = index + line.length;
    while (next < ends.length && (ends[next]?.index ?? 0) < body) next++;
    const end = ends[next];
    const stop = end?.index ?? endOfKey(text, body, placeholder);
    clean += `${text.slice(done, body)}${emptied(text.slice(body, stop), placeholder)}${end?.line ?? ''}`;
    done = stop + (end?.line.length ?? 0);
  }
  return clean + text.slice(done);
};

/** The first line of the body says what was there; the others are empty. */
const emptied = (body: string, placeholder: string): string => {
  const breaks = body.match(/\r?\n/g) ?? [];
  const [first = ''] = breaks;
  return `${first}${placeholder}${breaks.slice(1).join('')}`;
};

/** What the line of a key is made of: base64, a header of the block, escapes; a listing puts a number before. */
const KEY_LINE =
  /^(?:.{0,300}?(?:[:-]\d{1,9}[:-]|\d\t|\| ?))?(?:[A-Za-z0-9+/=]|\\[nr]| (?= |$))*$|^(?:Proc-Type|DEK-Info|Version|Comment): .{0,100}$/;

const LONGEST_LINE = 20_000;

/** A key that was cut off goes on for as long as its lines look like one. */
const endOfKey = (text: string, from: number, placeholder: string): number => {
  const [lineBreak = ''] = /^\r?\n/.exec(text.slice(from, from + 2)) ?? [];
  const first = from + lineBreak.length;
  if (text.startsWith(placeholder, first)) return first + placeholder.length;
  let stop = from;
  for (;;) {
    const found = text.indexOf('\n', stop);
    const end = found === -1 ? text.length : found;
    const line = text.slice(stop, end).replace(/\r$/, '');
    if (line.length > LONGEST_LINE) return stop + leadingBody(text, stop);
    if (!KEY_LINE.test(line)) return stop + leadingBody(text, stop);
    if (found === -1) return text.length;
    stop = found + 1;
  }
};

const BODY = /(?:[^\n]{0,300}?(?:[:-]\d{1,9}[:-]|\d\t|\| ?))?(?:[A-Za-z0-9+/=]{16,}|\\[nr])+/y;

const leadingBody = (text: string, from: number): number => {
  BODY.lastIndex = from;
  return BODY.exec(text)?.[0].length ?? 0;
};
