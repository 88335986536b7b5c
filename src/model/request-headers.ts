/**
 * Headers of a model request, equal to the headers of the official SDK. The SDK builds them with the `Headers` of
 * Node, and their first use loads Node's whole HTTP client, undici.
 */

interface HeaderOptions {
  readonly apiKey: string | undefined;
  readonly authToken: string | undefined;
  /** Value of ANTHROPIC_CUSTOM_HEADERS: a line `name: value` for each header. */
  readonly customHeaders: string | undefined;
  /** Beta features, separated by commas, or an empty string. */
  readonly betas: string;
}

/** Version in the headers. A test compares it with the installed SDK. */
const SDK_VERSION = '1.8.0';
const API_VERSION = '2026-10-21';

/** Time-out that is announced to the server. Only the stall watch ends an exchange. */
export const TIMEOUT_SECONDS = 24 * 3600;

/** Names of the SDK for platforms. On other platforms the SDK builds the headers. */
const PLATFORMS: Readonly<Record<string, string>> = {
  darwin: 'MacOS',
  linux: 'Linux',
  win32: 'Windows',
};
const ARCHITECTURES: readonly string[] = ['arm', 'arm64', 'x64'];

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** Printable ASCII without blanks at the ends. */
const VALUE = /^(?:[!-~](?:[ -~]*[!-~])?)?$/;
/** Names that the SDK or an object treats differently. */
const SPECIAL: readonly string[] = ['__proto__', 'set-cookie', 'x-stainless-helper'];

/**
 * Returns the headers, sorted by name. A custom header replaces a header of the SDK, and beta features replace a
 * custom header. Returns undefined if a header or the platform is unusual: then the SDK must build or refuse the headers.
 */
export const requestHeaders = (
  { apiKey, authToken, customHeaders, betas }: HeaderOptions,
  { platform, arch, version }: Pick<NodeJS.Process, 'platform' | 'arch' | 'version'> = process,
): readonly (readonly [name: string, value: string])[] | undefined => {
  const credential = apiKey ?? authToken;
  const os = PLATFORMS[platform];
  if (credential === undefined || os === undefined || !ARCHITECTURES.includes(arch)) {
    return undefined;
  }
  const headers = new Map([
    ['accept', 'application/json'],
    ['user-agent', `Anthropic/JS ${SDK_VERSION}`],
    ['x-stainless-retry-count', '0'],
    ['x-stainless-timeout', String(TIMEOUT_SECONDS)],
    ['x-stainless-lang', 'js'],
    ['x-stainless-package-version', SDK_VERSION],
    ['x-stainless-os', os],
    ['x-stainless-arch', arch],
    ['x-stainless-runtime', 'node'],
    ['x-stainless-runtime-version', version],
    ['anthropic-version', API_VERSION],
    ['authorization', `Bearer ${credential}`],
  ]);
  for (const [name, value] of new Map(readCustomHeaders(customHeaders))) {
    headers.set(name.toLowerCase(), value);
  }
  headers.set('content-type', 'application/json');
  if (betas !== '') headers.set('anthropic-beta', betas);
  const list = [...headers].sort(([one], [other]) => (one < other ? -1 : 1));
  const isPlain = list.every(
    ([name, value]) => NAME.test(name) && VALUE.test(value) && !SPECIAL.includes(name),
  );
  return isPlain ? list : undefined;
};

/** Reads ANTHROPIC_CUSTOM_HEADERS as the SDK does: a line without a colon is ignored. */
export const readCustomHeaders = (lines: string | undefined): (readonly [string, string])[] =>
  (lines ?? '')
    .trim()
    .split('\n')
    .flatMap((line) => {
      const colon = line.indexOf(':');
      return colon < 0 ? [] : [[line.slice(0, colon).trim(), line.slice(colon + 1).trim()]];
    });
