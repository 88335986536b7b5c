/** Port for bounded web requests: one address, one answer. */
import { SkeinError } from '../skein-error.js';

export interface Web {
  /**
   * Fetches one address and follows redirects within its host. Sends no cookies and no credentials.
   * Rejects with WebFailure, or with the signal's reason if it aborts.
   */
  get(address: URL, signal: AbortSignal): Promise<WebAnswer>;
}

export type WebAnswer = WebPage | WebRedirect;

export interface WebPage {
  readonly kind: 'page';
  /** Final address after redirects. */
  readonly address: string;
  readonly status: number;
  /** The server's header, or empty. */
  readonly contentType: string;
  readonly body: Uint8Array;
  /** True if `body` is only the beginning of a longer body. */
  readonly cut: boolean;
}

/** Redirect to another host. The caller must send a new request, which gets its own ruling. */
export interface WebRedirect {
  readonly kind: 'redirect';
  readonly status: number;
  readonly to: string;
}

/** Failure of a request. The message may be shown to the model. */
export class WebFailure extends SkeinError {
  readonly code = 'web-failure';
}

/** Maximum bytes of one page, both compressed and decompressed. */
export const MAX_PAGE_BYTES = 10 * 1024 * 1024;

export const MAX_ADDRESS_LENGTH = 2_000;

/** Valid host names. A `*` is refused, because an allow rule would treat it as a pattern. */
const HOST = /^[\w.:[\]-]+$/;

/** Returns the problem of an address, or undefined if it can be fetched. */
export const addressProblem = (text: string): string | undefined => {
  if (text.length > MAX_ADDRESS_LENGTH)
    return `the address has more than ${MAX_ADDRESS_LENGTH} characters`;
  if (!URL.canParse(text)) return 'it is not a whole address such as https://example.com/page';
  const { protocol, username, password, hostname } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return 'only http and https can be fetched';
  if (username !== '' || password !== '') return 'the address holds a user name or a password';
  return HOST.test(hostname) ? undefined : 'the address does not name one host';
};
