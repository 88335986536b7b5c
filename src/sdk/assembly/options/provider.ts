/** Model provider: address and credentials, read from the usual environment variables. */
import { UsageError } from '../../../protocol/skein-error.js';
import type { HostEnvironment } from './host-environment.js';

export interface Provider {
  readonly apiKey: string | undefined;
  readonly authToken: string | undefined;
  readonly baseUrl: string | undefined;
}

/** Throws UsageError if there is no key or the address is not http or https. */
export const providerOf = (env: HostEnvironment['env']): Provider => {
  const apiKey = env.ANTHROPIC_API_KEY || undefined;
  const authToken = env.ANTHROPIC_AUTH_TOKEN || undefined;
  if (apiKey === undefined && authToken === undefined) {
    throw new UsageError(
      'There is no API key: set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), or run `skein demo`, which needs none.',
    );
  }
  const baseUrl = env.ANTHROPIC_BASE_URL || undefined;
  if (baseUrl !== undefined && !/^https?:$/.test(protocolOf(baseUrl))) {
    throw new UsageError(`ANTHROPIC_BASE_URL is not an http or https address: ${baseUrl}`);
  }
  return { apiKey, authToken, baseUrl };
};

const protocolOf = (url: string): string => (URL.canParse(url) ? new URL(url).protocol : '');
