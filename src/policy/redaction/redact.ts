/**
 * Removes secrets from text.
 *
 * Used for tool results before they become messages, and for text on screens and in the event index.
 *
 * Takes time linear in the length of the text, because every pattern is bounded or cannot backtrack. Keeps the
 * number of lines. Idempotent.
 */
import { hidePrivateKeys } from './hide-private-keys.js';

/** Text that replaces a secret. */
export const REDACTION_PLACEHOLDER = '[redacted]';

export type Redact = (text: string) => string;

export const redact: Redact = (text) => {
  let clean = hidePrivateKeys(text, REDACTION_PLACEHOLDER);
  for (const { hints, pattern, replace } of SECRETS) {
    if (hints.some((hint) => clean.includes(hint))) clean = clean.replaceAll(pattern, replace);
  }
  return SECRET_WORDS.test(clean) ? hideWorded(clean) : clean;
};

/** Returns a function that also removes the known values, in any of their usual encodings. */
export const createRedactor = (secrets: readonly string[]): Redact => {
  const values = spellings(secrets);
  return (text) =>
    redact(values.reduce((clean, value) => clean.replaceAll(value, REDACTION_PLACEHOLDER), text));
};

/** Minimum characters of a known value. Shorter values, plain words and paths would match ordinary text. */
const MIN_SECRET_LENGTH = 8;

const spellings = (secrets: readonly string[]): readonly string[] => {
  const all = secrets.flatMap((value) => [
    value,
    encodeURIComponent(value.toWellFormed()),
    escaped(value),
  ]);
  const usable = all.filter(
    (text) => text.length >= MIN_SECRET_LENGTH && !/^[a-z]+$|^\/[\w./-]*$/i.test(text),
  );
  return [...new Set(usable)].sort((a, b) => b.length - a.length);
};

const escaped = (value: string) => JSON.stringify(value).slice(1, -1);

const KEY_NAME =
  /(?:^|_)(?:API_?KEY|ACCESS_?KEY|SECRET_?KEY|AUTH_?TOKEN|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT)$/i;

/** Returns the values of environment variables whose names say that they hold a secret. */
export const secretValues = (
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && KEY_NAME.test(name) ? [value.trim()] : [],
  );

interface SecretPattern {
  /** Substrings. The pattern is searched only in a text with at least one of them, to save time. */
  readonly hints: readonly string[];
  readonly pattern: RegExp;
  readonly replace: (match: string, kept?: string, rest?: string) => string;
}

const keepStart: SecretPattern['replace'] = (_, kept = '') => `${kept}${REDACTION_PLACEHOLDER}`;

/** Hides a match only if it has a digit, which "sk-learn-compatible" and "bearer authentication" have not. */
const hideIfKey: SecretPattern['replace'] = (match, kept = '', rest = '') =>
  /\d/.test(rest) ? `${kept}${REDACTION_PLACEHOLDER}` : match;

/** Hides a match only if it has a long run without a dash, which `sk-circle-fade-dot12` has not. */
const hideIfRun: SecretPattern['replace'] = (match, kept = '', rest = '') =>
  /\d/.test(rest) && /[A-Za-z0-9]{14}/.test(rest) ? `${kept}${REDACTION_PLACEHOLDER}` : match;

/** Start of a token: after a non-word character, or after an escaped line break or tab of JSON. */
const START = '(?:(?<![A-Za-z0-9])|(?<=\\\\[nrt]))';
const token = (
  hints: readonly string[],
  start: string,
  rest: string,
  replace: SecretPattern['replace'] = hideIfKey,
): SecretPattern => ({ hints, pattern: new RegExp(`${START}(${start})(${rest})`, 'g'), replace });

const SECRETS: readonly SecretPattern[] = [
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
    replace: (_, kept = '') => `${kept}${REDACTION_PLACEHOLDER}@`,
  },
];

/** Words that come before a secret. */
const SECRET_WORDS = /bearer|basic|passw|passphrase|secret|token|key|credential|--user|-u /i;

const hideWorded = (text: string): string =>
  WORDED.reduce((clean, { pattern, replace }) => clean.replaceAll(pattern, replace), text);

const GAP = '[ \\t]{0,4}';
const WORDED: readonly Omit<SecretPattern, 'hints'>[] = [
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
    replace: (match, kept = '', rest = '') =>
      looksRandom(rest) ? `${kept}${REDACTION_PLACEHOLDER}` : match,
  },
  {
    pattern: new RegExp(
      `((?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|account[_-]?key|private[_-]?key|auth[_-]?key|credentials?)\\\\?["']?\\]?${GAP}(?::=|=>|=|:)${GAP}\\\\?["'\`]?)([^\\s"'\`,;(){}<>[\\]$\\\\]{8,512})`,
      'gi',
    ),
    replace: (match, kept = '', rest = '') =>
      looksRandom(rest) ? `${kept}${REDACTION_PLACEHOLDER}` : match,
  },
];

/**
 * True if a value looks random: digits and letters alternate often, or it has characters that no name has.
 * False for paths, URLs, names in code and placeholders.
 */
const looksRandom = (value: string): boolean => {
  if (PLACEHOLDER_VALUE.test(value) || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (/^[./~]|^[A-Za-z]+:\/\//.test(value)) return false;
  if (/[!@#%^&*+~?]/.test(value)) return true;
  const changes = value.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0;
  const digits = value.match(/\d/g)?.length ?? 0;
  return changes >= 4 || (value.length >= 20 && digits >= 5);
};

const PLACEHOLDER_VALUE = /^x+$|example|changeme|placeholder|your[-_]|process\.env|redacted|\*{3}/i;
