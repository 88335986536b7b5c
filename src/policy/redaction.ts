/**
 * Takes secrets out of text before it is shown on stderr or kept in the event index.
 *
 * Every pattern is bounded or has nothing to backtrack over, so time grows with the length of the
 * text alone. Redacting twice changes nothing more.
 */

export const redact = (text: string): string => {
  let clean = hidePrivateKeys(text);
  for (const { pattern, replace } of SECRETS) clean = clean.replaceAll(pattern, replace);
  return clean;
};

interface Secret {
  readonly pattern: RegExp;
  readonly replace: (match: string, kept?: string, rest?: string) => string;
}

const hide =
  (kept: string): Secret['replace'] =>
  () =>
    `${kept}[redacted]`;

const keepStart: Secret['replace'] = (_, kept = '') => `${kept}[redacted]`;

/** Words such as "sk-learn-compatible" or "bearer authentication" have no digit; keys do. */
const hideIfKey: Secret['replace'] = (match, kept = '', rest = '') =>
  /\d/.test(rest) ? `${kept}[redacted]` : match;

const SECRETS: readonly Secret[] = [
  { pattern: /(?<![A-Za-z0-9])sk-ant-[A-Za-z0-9_-]{8,}/g, replace: hide('sk-ant-') },
  { pattern: /(?<![A-Za-z0-9])(sk-)([A-Za-z0-9_-]{16,})/g, replace: hideIfKey },
  { pattern: /(?<![A-Za-z0-9])(gh[pousr]_)([A-Za-z0-9]{16,})/g, replace: hideIfKey },
  { pattern: /github_pat_[A-Za-z0-9_]{16,}/g, replace: hide('github_pat_') },
  {
    pattern: /(?<![A-Za-z0-9])(glpat-|xox[abeprs]-|npm_)([A-Za-z0-9_-]{16,})/g,
    replace: hideIfKey,
  },
  { pattern: /(?<![A-Za-z0-9])(AKIA|ASIA)([0-9A-Z]{16})(?![0-9A-Z])/g, replace: keepStart },
  { pattern: /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}/g, replace: hide('AIza') },
  {
    pattern: /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g,
    replace: hide('eyJ'),
  },
  { pattern: /\b(bearer\s{1,4})([A-Za-z0-9._~+/-]{8,}={0,2})/gi, replace: hideIfKey },
  {
    pattern:
      /\b((?:proxy-)?authorization["']?\s{0,4}[:=]\s{0,4}["']?basic\s{1,4})([A-Za-z0-9+/]{4,}={0,2})/gi,
    replace: keepStart,
  },
  {
    pattern: /\b(x-api-key["']?\s{0,4}[:=]\s{0,4}["']?)([^\s"',;[]{8,})/gi,
    replace: keepStart,
  },
  {
    pattern: /\b([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@"']{0,256}:)([^\s/"']{1,1024})@/gi,
    replace: (_, kept = '') => `${kept}[redacted]@`,
  },
];

const KEY_BEGINS = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_ENDS = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** What a key that was cut off before its end line is made of, escapes included. */
const KEY_BODY = /(?:[A-Za-z0-9+/=\s]|\\[nr])*/y;

const hidePrivateKeys = (text: string): string => {
  const ends = [...text.matchAll(KEY_ENDS)].map(({ index, 0: line }) => ({ index, line }));
  let clean = '';
  let done = 0;
  let next = 0;
  for (const { index, 0: line } of text.matchAll(KEY_BEGINS)) {
    if (index < done) continue;
    const body = index + line.length;
    while (next < ends.length && (ends[next]?.index ?? 0) < body) next++;
    const end = ends[next];
    clean += `${text.slice(done, body)}[redacted]${end?.line ?? ''}`;
    done = end ? end.index + end.line.length : endOfKey(text, body);
  }
  return clean + text.slice(done);
};

const endOfKey = (text: string, from: number) => {
  if (text.startsWith('[redacted]', from)) return from + '[redacted]'.length;
  KEY_BODY.lastIndex = from;
  return from + (KEY_BODY.exec(text)?.[0].length ?? 0);
};
