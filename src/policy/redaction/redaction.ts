/**
 * Takes secrets out of text: of what tools return before it becomes a message, and of whatever is
 * shown on a screen or kept in the event index.
 *
 * Every pattern is bounded or has nothing to backtrack over, so time grows with the length of the
 * text alone. Lines stay lines, and redacting twice changes nothing more.
 */
import { hidePrivateKeys } from './private-keys.js';

/** Stands where a secret stood. */
export const PLACEHOLDER = '[redacted]';

export type Redact = (text: string) => string;

export const redact: Redact = (text) => {
  let clean = hidePrivateKeys(text, PLACEHOLDER);
  for (const { hints, pattern, replace } of SECRETS) {
    if (hints.some((hint) => clean.includes(hint))) clean = clean.replaceAll(pattern, replace);
  }
  return WORDS.test(clean) ? hideWorded(clean) : clean;
};

/** Hides these very texts too, whatever they look like. */
export const redactorOf = (known: readonly string[]): Redact => {
  const values = spellings(known);
  return (text) =>
    redact(values.reduce((clean, value) => clean.replaceAll(value, PLACEHOLDER), text));
};

/** Shorter ones, and words, would take ordinary text with them. */
const SHORTEST_KNOWN = 8;

const spellings = (known: readonly string[]): readonly string[] => {
  const all = known.flatMap((value) => [
    value,
    encodeURIComponent(value.toWellFormed()),
    escaped(value),
  ]);
  const usable = all.filter(
    (it) => it.length >= SHORTEST_KNOWN && !/^[a-z]+$|^\/[\w./-]*$/i.test(it),
  );
  return [...new Set(usable)].sort((one, other) => other.length - one.length);
};

const escaped = (value: string) => JSON.stringify(value).slice(1, -1);

const KEY_NAME =
  /(?:^|_)(?:API_?KEY|ACCESS_?KEY|SECRET_?KEY|AUTH_?TOKEN|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT)$/i;

/** The values of variables that are keys by their name. */
export const keysIn = (env: Readonly<Record<string, string | undefined>>): readonly string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && KEY_NAME.test(name) ? [value.trim()] : [],
  );

interface Secret {
  /** None of them in a text: no need to look closer. */
  readonly hints: readonly string[];
  readonly pattern: RegExp;
  readonly replace: (match: string, kept?: string, rest?: string) => string;
}

const keepStart: Secret['replace'] = (_, kept = '') => `${kept}${PLACEHOLDER}`;

/** Words such as "sk-learn-compatible" or "bearer authentication" have no digit; keys do. */
const hideIfKey: Secret['replace'] = (match, kept = '', rest = '') =>
  /\d/.test(rest) ? `${kept}${PLACEHOLDER}` : match;

/** `sk-circle-fade-dot12` is a name; a key has a long run without a dash. */
const hideIfRun: Secret['replace'] = (match, kept = '', rest = '') =>
  /\d/.test(rest) && /[A-Za-z0-9]{14}/.test(rest) ? `${kept}${PLACEHOLDER}` : match;

/** A line break that JSON has escaped ends a word too, though with a letter. */
const START = '(?:(?<![A-Za-z0-9])|(?<=\\\\[nrt]))';
const token = (
  hints: readonly string[],
  start: string,
  rest: string,
  replace: Secret['replace'] = hideIfKey,
): Secret => ({ hints, pattern: new RegExp(`${START}(${start})(${rest})`, 'g'), replace });

const SECRETS: readonly Secret[] = [
  token(['sk-ant-'], 'sk-ant-', '[A-Za-z0-9_-]{8,}', keepStart),
  token(['sk-'], 'sk-', '[A-Za-z0-9_-]{16,}', hideIfRun),
  token(['sk_', 'rk_', 'whsec_'], '(?:[sr]k_(?:live|test)|whsec)_', '[A-Za-z0-9]{16,}'),
  token(['gh'], 'gh[pousr]_', '[A-Za-z0-9]{16,}'),
  token(['github_pat_'], 'github_pat_', '[A-Za-z0-9_]{16,}', keepStart),
  token(['gl'], 'gl(?:pat|ptt|dt|rt|oas|cbt|soat)-', '[A-Za-z0-9_-]{16,}'),
  token(['xox', 'xapp-'], 'xox[abceoprs]-|xapp-', '[A-Za-z0-9-]{12,}'),
  token(['hooks.slack'], 'hooks\\.slack\\.com/services/', '[A-Za-z0-9/]{20,}'),
  token(['npm_'], 'npm_', '[A-Za-z0-9]{30,}'),
  token(['pypi-'], 'pypi-', '[A-Za-z0-9_-]{32,}'),
  token(['hf_', 'gsk_', 'r8_'], 'hf_|gsk_|r8_', '[A-Za-z0-9]{30,}'),
  token(
    ['dckr_pat_', 'dop_v1_', 'shp'],
    'dckr_pat_|dop_v1_|shp(?:at|ss|ca|pa)_',
    '[A-Za-z0-9_-]{20,}',
  ),
  token(['SG.'], 'SG\\.', '[\\w-]{16,}\\.[\\w-]{16,}'),
  token(['AGE-SECRET-KEY-1'], 'AGE-SECRET-KEY-1', '[A-Z0-9]{20,}', keepStart),
  token(['AKIA', 'ASIA'], 'AKIA|ASIA', '[0-9A-Z]{16}(?![0-9A-Z])', keepStart),
  token(['AIza'], 'AIza', '[A-Za-z0-9_-]{30,}', keepStart),
  token(['GOCSPX-'], 'GOCSPX-', '[A-Za-z0-9_-]{20,}', keepStart),
  token(['ya29.'], 'ya29\\.', '[A-Za-z0-9_.-]{16,}', keepStart),
  {
    hints: ['eyJ'],
    pattern: /(?:(?<![\w-])|(?<=\\[nrt]))(eyJ)[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]{0,8192}){1,3}/g,
    replace: keepStart,
  },
  {
    hints: ['://'],
    pattern: /(:\/\/[^\s/:@"'`<>]{0,256}:)([^\s/"'`<>]{1,1024})@/g,
    replace: (_, kept = '') => `${kept}${PLACEHOLDER}@`,
  },
];

/** Words that announce a secret, in any case. */
const WORDS = /bearer|basic|passw|passphrase|secret|token|key|credential|--user|-u /i;

const hideWorded = (text: string): string =>
  WORDED.reduce((clean, { pattern, replace }) => clean.replaceAll(pattern, replace), text);

const GAP = '[ \\t]{0,4}';
const WORDED: readonly Omit<Secret, 'hints'>[] = [
  {
    pattern: /(?:\b|(?<=\\[nrt]))(bearer[ \t]{1,4})([A-Za-z0-9._~+/-]{8,}={0,2})/gi,
    replace: hideIfKey,
  },
  {
    pattern: new RegExp(
      `${START}((?:proxy-)?authorization["']?${GAP}[:=]${GAP}["']?basic[ \\t]{1,4})([A-Za-z0-9+/]{4,}={0,2})`,
      'gi',
    ),
    replace: keepStart,
  },
  {
    pattern: new RegExp(`${START}(x-api-key["']?${GAP}[:=]${GAP}["']?)([^\\s"',;[]{8,})`, 'gi'),
    replace: keepStart,
  },
  {
    pattern: /(?<=\s)((?:-u|--user)[ =]{1,4}["']?[^\s:"']{1,100}:)([^\s"']{4,200})/g,
    replace: (match, kept = '', rest = '') => (looksRandom(rest) ? `${kept}${PLACEHOLDER}` : match),
  },
  {
    pattern: new RegExp(
      `((?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|account[_-]?key|private[_-]?key|auth[_-]?key|credentials?)\\\\?["']?\\]?${GAP}(?::=|=>|=|:)${GAP}\\\\?["'\`]?)([^\\s"'\`,;(){}<>[\\]$\\\\]{8,512})`,
      'gi',
    ),
    replace: (match, kept = '', rest = '') => (looksRandom(rest) ? `${kept}${PLACEHOLDER}` : match),
  },
];

/**
 * Whether a value reads as if nobody had thought of it: digits and letters that change often, or
 * with signs that no name has. Paths, names in code, and what only stands for a secret do not.
 */
const looksRandom = (value: string): boolean => {
  if (STANDS_FOR.test(value) || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (/^[./~]|^[A-Za-z]+:\/\//.test(value)) return false;
  if (/[!@#%^&*+~?]/.test(value)) return true;
  const changes = value.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0;
  const digits = value.match(/\d/g)?.length ?? 0;
  return changes >= 4 || (value.length >= 20 && digits >= 5);
};

const STANDS_FOR = /^x+$|example|changeme|placeholder|your[-_]|process\.env|redacted|\*{3}/i;
