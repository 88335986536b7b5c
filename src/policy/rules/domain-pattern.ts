/**
 * Patterns of rules about URLs.
 *
 *   domain:example.com      this host
 *   domain:*.example.com    every host below it
 *   domain:*                every host
 *
 * Hosts are compared as the URL parser returns them: lower case, ASCII, full IP addresses, no trailing dot.
 */

const PREFIX = 'domain:';

export type DomainPattern =
  | { readonly matches: (address: string) => boolean }
  | { readonly problem: string };

/** Returns undefined if the pattern does not begin with `domain:`. */
export const readDomainPattern = (pattern: string): DomainPattern | undefined => {
  const text = pattern.trim();
  if (!text.startsWith(PREFIX)) return undefined;
  const domain = text.slice(PREFIX.length).trim();
  if (domain === '*') return { matches: (address) => hostOf(address) !== undefined };
  const isWildcard = domain.startsWith('*.');
  const name = isWildcard ? domain.slice(2) : domain;
  if (name === '') return problem('the domain is missing; write domain:example.com');
  if (name.includes('*')) return problem('a * is allowed only as domain:* or domain:*.example.com');
  if (/[/?#@\\\s]/.test(name) || (name.includes(':') && !name.endsWith(']'))) {
    return problem('write only the host, without scheme, port or path: domain:example.com');
  }
  const host = hostOf(`http://${name.replace(/\.$/, '')}/`);
  if (host === undefined) return problem(`"${name}" is not a host name`);
  return {
    matches(address) {
      const requested = hostOf(address);
      return (
        requested !== undefined &&
        (isWildcard ? requested.endsWith(`.${host}`) : requested === host)
      );
    },
  };
};

/**
 * Returns the spellings of an address that lead to the same page: with and without user name and fragment,
 * with http and https, with and without percent-encoding. For deny and ask rules.
 */
export const addressSpellings = (address: string): readonly string[] => {
  if (!URL.canParse(address)) return [address];
  const url = new URL(address);
  const host = url.host.replace(/\.(?=:|$)/, '');
  const rest = `//${host}${url.pathname}${url.search}`;
  const spellings = [rest, decoded(rest)].flatMap((end) => [
    `${url.protocol}${end}`,
    ...(url.protocol === 'https:' ? [`http:${end}`] : []),
    ...(url.protocol === 'http:' ? [`https:${end}`] : []),
  ]);
  return [...new Set([address, url.href, ...spellings])];
};

const decoded = (text: string): string => {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
};

/** Returns the host without a trailing dot. Returns undefined if the URL has none. */
const hostOf = (address: string): string | undefined =>
  URL.canParse(address) ? new URL(address).hostname.replace(/\.$/, '') || undefined : undefined;

const problem = (text: string): DomainPattern => ({ problem: text });
