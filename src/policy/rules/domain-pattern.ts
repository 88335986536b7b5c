/**
 * Patterns of rules about addresses: `domain:example.com` is this host and no other,
 * `domain:*.example.com` every host below it, `domain:*` all. Hosts are compared as an address has
 * them: lower case, in ASCII, numbers spelled out, no dot at the end.
 */

const MARK = 'domain:';

export type DomainReading =
  | { readonly matches: (address: string) => boolean }
  | { readonly problem: string };

/** Undefined when a pattern is not about a domain. */
export const readDomain = (pattern: string): DomainReading | undefined => {
  const text = pattern.trim();
  if (!text.startsWith(MARK)) return undefined;
  const domain = text.slice(MARK.length).trim();
  if (domain === '*') return { matches: (address) => hostOf(address) !== undefined };
  const isBelow = domain.startsWith('*.');
  const name = isBelow ? domain.slice(2) : domain;
  if (name === '') return problem('the domain is missing; write domain:example.com');
  if (name.includes('*')) return problem('a * works only as domain:* or as domain:*.example.com');
  if (/[/?#@\\\s]/.test(name) || (name.includes(':') && !name.endsWith(']'))) {
    return problem('a domain is a host alone, without scheme, port or path: domain:example.com');
  }
  const host = hostOf(`http://${name.replace(/\.$/, '')}/`);
  if (host === undefined) return problem(`"${name}" is not the name of a host`);
  return {
    matches(address) {
      const asked = hostOf(address);
      return asked !== undefined && (isBelow ? asked.endsWith(`.${host}`) : asked === host);
    },
  };
};

/** A dot at the end of a name changes nothing about where it leads. */
const hostOf = (address: string): string | undefined =>
  URL.canParse(address) ? new URL(address).hostname.replace(/\.$/, '') || undefined : undefined;

const problem = (text: string): DomainReading => ({ problem: text });
