/** The web as tools see it: one address in, one answer out, within limits that are always there. */
import { SkeinError } from '../errors.js';

export interface Web {
  /**
   * Asks for one address and follows redirects within its host. Rejects with a WebFailure, or with
   * the signal's reason once aborted. Sends no cookies and no credentials.
   */
  get(address: URL, signal: AbortSignal): Promise<WebAnswer>;
}

export type WebAnswer = WebPage | WebRedirect;

export interface WebPage {
  readonly kind: 'page';
  /** Where it was found in the end. */
  readonly address: string;
  readonly status: number;
  /** As the server sent it, or empty. */
  readonly contentType: string;
  readonly body: Uint8Array;
  /** The body was longer; this is its beginning. */
  readonly cut: boolean;
}

/** To another host: whoever asked has to ask again, so that the new address is ruled on. */
export interface WebRedirect {
  readonly kind: 'redirect';
  readonly status: number;
  readonly to: string;
}

/** Why there is no answer, in a sentence that may be shown to the model that asked. */
export class WebFailure extends SkeinError {
  readonly code = 'web-failure';
}

/** Bytes of one page that are read, both from the wire and after unpacking. */
export const PAGE_LIMIT = 10 * 1024 * 1024;

/** The longest address that is asked for. */
export const ADDRESS_LIMIT = 2_000;

/** As URLs spell it. A `*` would pass for a pattern where hosts are allowed by name. */
const HOST = /^[\w.:[\]-]+$/;

/** What is wrong with an address, or undefined. */
export const addressProblem = (text: string): string | undefined => {
  if (text.length > ADDRESS_LIMIT) return `the address has more than ${ADDRESS_LIMIT} characters`;
  if (!URL.canParse(text)) return 'it is not a whole address such as https://example.com/page';
  const { protocol, username, password, hostname } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return 'only http and https can be fetched';
  if (username !== '' || password !== '') return 'the address holds a user name or a password';
  return HOST.test(hostname) ? undefined : 'the address does not name one host';
};
