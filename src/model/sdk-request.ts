/** Address and headers of a model request from the official SDK, for credentials and headers that are unusual. */
// `BaseAnthropic` leaves out the SDK's resources, which are most of its size.
import { BaseAnthropic } from '@anthropic-ai/sdk';
import { readCustomHeaders, TIMEOUT_SECONDS } from './request-headers.js';

interface SdkRequestOptions {
  readonly apiKey: string | undefined;
  readonly authToken: string | undefined;
  readonly baseUrl: string;
  readonly customHeaders: string | undefined;
  readonly betas: string;
}

/** Rejects with the error of the SDK if a header or the address is invalid. */
export const sdkRequest = async ({
  apiKey,
  authToken,
  baseUrl,
  customHeaders,
  betas,
}: SdkRequestOptions): Promise<{ readonly url: string; readonly headers: Headers }> => {
  const client = new BaseAnthropic({
    apiKey: apiKey ?? null,
    authToken: apiKey === undefined ? (authToken ?? null) : null,
    baseURL: baseUrl,
    defaultHeaders: Object.fromEntries(readCustomHeaders(customHeaders)),
    timeout: TIMEOUT_SECONDS * 1000,
    logLevel: 'off',
  });
  const { url, req } = await client.buildRequest({
    method: 'post',
    path: '/v1/messages',
    stream: true,
    headers: {
      'content-type': 'application/json',
      ...(betas !== '' && { 'anthropic-beta': betas }),
    },
  });
  return { url, headers: new Headers(req.headers) };
};
