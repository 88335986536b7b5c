/**
 * Redaction of a text that comes in pieces. What may still become a secret is held back until more
 * of it is there: the rest of a line that speaks of one, the beginning of a known start, a key
 * without its end. Everything else passes at once.
 */
import type { Redact } from './redaction.js';

export interface RedactedStream {
  /** Returns what can be shown so far. */
  push(text: string): string;
  /** Returns the rest. */
  end(): string;
}

/** More than this is not held back: no secret is so long. */
const MOST_HELD = 64 * 1024;

export const redactedStream = (redact: Redact, known: readonly string[] = []): RedactedStream => {
  let held = '';
  return {
    push(text) {
      held += text;
      const cut = Math.max(safeCut(held, known), forcedCut(held));
      const ready = held.slice(0, cut);
      held = held.slice(cut);
      return ready === '' ? '' : redact(ready);
    },
    end() {
      const rest = held;
      held = '';
      return rest === '' ? '' : redact(rest);
    },
  };
};

const safeCut = (text: string, known: readonly string[]): number => {
  const start = text.lastIndexOf('\n') + 1;
  const line = text.slice(start);
  const inLine = SUSPECT.test(line) ? start : start + unfinished(line);
  const cut = Math.min(inLine, openKey(text), ...known.map((value) => partOf(text, value)));
  return Math.min(cut, ...known.map((value) => startOfTorn(text, value, cut)));
};

/** Where the value begins that this cut would tear. */
const startOfTorn = (text: string, value: string, cut: number): number => {
  const from = text.lastIndexOf(value, cut - 1);
  return from !== -1 && from + value.length > cut ? from : cut;
};

/** A line with one of these is kept until it ends. */
const SUSPECT =
  /sk-|[srk]k_|gh[a-z]_|github_pat|gl[a-z]{2,4}-|xox|xapp-|hooks\.slack|npm_|pypi-|hf_|gsk_|r8_|dckr_|dop_v1|shp[a-z]{2}_|SG\.|AGE-SECRET|AKIA|ASIA|AIza|GOCSPX|ya29|eyJ|:\/\/|bearer|basic|authorization|passw|passphrase|secret|token|key|credential|--user|-u |-----BEGIN/i;

const STARTS =
  'sk- sk_ rk_ whsec_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- glptt- gldt- glrt- xoxb- xapp- hooks.slack npm_ pypi- hf_ gsk_ r8_ dckr_pat_ dop_v1_ shpat_ sg. age-secret akia asia aiza gocspx- ya29. eyj :// bearer basic authorization password passphrase secret token key x-api-key api_key api-key apikey access_key access-key accesskey account_key account-key accountkey private_key private-key privatekey auth_key auth-key authkey credential --user -----begin'.split(
    ' ',
  );
const LONGEST_START = Math.max(...STARTS.map((start) => start.length));

/** Where the end of the line may be the beginning of one of them. */
const unfinished = (line: string): number => {
  const end = line.slice(-LONGEST_START).toLowerCase();
  for (let from = 0; from < end.length; from += 1) {
    const rest = end.slice(from);
    if (STARTS.some((start) => start.startsWith(rest))) return line.length - rest.length;
  }
  return line.length;
};

const openKey = (text: string): number => {
  const begin = text.lastIndexOf('-----BEGIN ');
  if (begin === -1 || !/^-----BEGIN [A-Z0-9 ]{0,40}PRIV/.test(text.slice(begin, begin + 60))) {
    return text.length;
  }
  return /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/.test(text.slice(begin))
    ? text.length
    : begin;
};

/** Where the end of the text may be the beginning of the value. */
const partOf = (text: string, value: string): number => {
  for (let length = Math.min(value.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(value.slice(0, length))) return text.length - length;
  }
  return text.length;
};

/** Between words where there is such a place, so that no token is torn. */
const forcedCut = (text: string): number => {
  if (text.length <= MOST_HELD) return 0;
  const near = text.slice(-4_096).search(/[^\w+/=.~%@:-][\w+/=.~%@:-]*$/);
  return near === -1 ? text.length : text.length - Math.min(4_096, text.length) + near + 1;
};
