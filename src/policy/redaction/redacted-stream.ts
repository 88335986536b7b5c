/**
 * Redacts a text that arrives in pieces.
 *
 * Holds back text that may be part of a secret until more arrives: the rest of a line with a suspect word, the
 * beginning of a token, a private key without its end. All other text passes at once.
 */
import type { Redact } from './redact.js';

export interface RedactedStream {
  /** Returns the redacted text that is complete so far. */
  push(text: string): string;
  /** Returns the text that is still held back, redacted. */
  end(): string;
}

/** Maximum characters that are held back. No secret is longer. */
const MAX_HELD_LENGTH = 64 * 1024;

export const redactedStream = (redact: Redact, secrets: readonly string[] = []): RedactedStream => {
  let held = '';
  return {
    push(text) {
      held += text;
      const cut = Math.max(safeCut(held, secrets), forcedCut(held));
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

const safeCut = (text: string, secrets: readonly string[]): number => {
  const start = text.lastIndexOf('\n') + 1;
  const line = text.slice(start);
  const inLine = SUSPECT.test(line) ? start : start + unfinished(line);
  const cut = Math.min(inLine, openKey(text), ...secrets.map((value) => partOf(text, value)));
  return Math.min(cut, ...secrets.map((value) => startOfSplitValue(text, value, cut)));
};

/** Returns the start of the known value that the cut would split, else the cut. */
const startOfSplitValue = (text: string, value: string, cut: number): number => {
  const from = text.lastIndexOf(value, cut - 1);
  return from !== -1 && from + value.length > cut ? from : cut;
};

/** A line that matches is held back until it ends. */
const SUSPECT =
  /sk-|[srk]k_|gh[a-z]_|github_pat|gl[a-z]{2,4}-|xox|xapp-|hooks\.slack|npm_|pypi-|hf_|gsk_|r8_|dckr_|dop_v1|shp[a-z]{2}_|SG\.|AGE-SECRET|AKIA|ASIA|AIza|GOCSPX|ya29|eyJ|:\/\/|bearer|basic|authorization|passw|passphrase|secret|token|key|credential|--user|-u |-----BEGIN/i;

const STARTS =
  'sk- sk_ rk_ whsec_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- glptt- gldt- glrt- xoxb- xapp- hooks.slack npm_ pypi- hf_ gsk_ r8_ dckr_pat_ dop_v1_ shpat_ sg. age-secret akia asia aiza gocspx- ya29. eyj :// bearer basic authorization password passphrase secret token key x-api-key api_key api-key apikey access_key access-key accesskey account_key account-key accountkey private_key private-key privatekey auth_key auth-key authkey credential --user -----begin'.split(
    ' ',
  );
const MAX_START_LENGTH = Math.max(...STARTS.map((start) => start.length));

/** Returns the offset from which the end of the line may be the beginning of a token, else its length. */
const unfinished = (line: string): number => {
  const end = line.slice(-MAX_START_LENGTH).toLowerCase();
  for (let from = 0; from < end.length; from += 1) {
    const rest = end.slice(from);
    if (STARTS.some((start) => start.startsWith(rest))) return line.length - rest.length;
  }
  return line.length;
};

/** Returns the start of a private key without an end, else the length of the text. */
const openKey = (text: string): number => {
  const begin = text.lastIndexOf('-----BEGIN ');
  if (begin === -1 || !/^-----BEGIN [A-Z0-9 ]{0,40}PRIV/.test(text.slice(begin, begin + 60))) {
    return text.length;
  }
  return /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/.test(text.slice(begin))
    ? text.length
    : begin;
};

/** Returns the offset from which the end of the text may be the beginning of the value, else its length. */
const partOf = (text: string, value: string): number => {
  for (let length = Math.min(value.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(value.slice(0, length))) return text.length - length;
  }
  return text.length;
};

/** Returns where to cut a text that is too long to hold back: between words if possible. */
const forcedCut = (text: string): number => {
  if (text.length <= MAX_HELD_LENGTH) return 0;
  const lastGap = text.slice(-4_096).search(/[^\w+/=.~%@:-][\w+/=.~%@:-]*$/);
  return lastGap === -1 ? text.length : text.length - Math.min(4_096, text.length) + lastGap + 1;
};
