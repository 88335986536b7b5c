/** Removes the bodies of private-key blocks from a text, also of blocks without an end line. */

const KEY_BEGINS = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_ENDS = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

/** Keeps the number of lines, so that line numbers stay valid. */
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

/** Returns the placeholder and as many line breaks as the body had. */
const emptied = (body: string, placeholder: string): string => {
  const breaks = body.match(/\r?\n/g) ?? [];
  const [first = ''] = breaks;
  return `${first}${placeholder}${breaks.slice(1).join('')}`;
};

/** Line of a key block: base64, escapes or a header, optionally after the line number of a listing. */
const KEY_LINE =
  /^(?:.{0,300}?(?:[:-]\d{1,9}[:-]|\d\t|\| ?))?(?:[A-Za-z0-9+/=]|\\[nr]| (?= |$))*$|^(?:Proc-Type|DEK-Info|Version|Comment): .{0,100}$/;

const MAX_LINE_LENGTH = 20_000;

/** Returns the end of a block without an end line: the first line that does not look like part of a key. */
const endOfKey = (text: string, from: number, placeholder: string): number => {
  const [lineBreak = ''] = /^\r?\n/.exec(text.slice(from, from + 2)) ?? [];
  const first = from + lineBreak.length;
  if (text.startsWith(placeholder, first)) return first + placeholder.length;
  let stop = from;
  for (;;) {
    const found = text.indexOf('\n', stop);
    const end = found === -1 ? text.length : found;
    const line = text.slice(stop, end).replace(/\r$/, '');
    if (line.length > MAX_LINE_LENGTH) return stop + leadingBody(text, stop);
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
