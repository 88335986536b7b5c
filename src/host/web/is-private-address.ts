/**
 * Detects private addresses and hosts: this machine, its network, and metadata services of clouds.
 * A model that chooses addresses must not reach them.
 */
import { BlockList, isIP } from 'node:net';

/** Addresses and prefix lengths from the IANA special-purpose registries. */
const PRIVATE_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Azure's platform service, inside a public range.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

const PRIVATE_V6: readonly (readonly [string, number])[] = [
  // Unspecified, loopback, and IPv4 addresses in two old notations.
  ['::', 96],
  ['::ffff:0:0', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
];

/** Separate lists, because a shared list would match IPv4 addresses against IPv4-mapped IPv6 networks. */
const blockedV4 = new BlockList();
const blockedV6 = new BlockList();
for (const [address, bits] of PRIVATE_V4) {
  blockedV4.addSubnet(address, bits, 'ipv4');
  // The same networks through NAT64 and 6to4.
  blockedV6.addSubnet(`64:ff9b::${address}`, 96 + bits, 'ipv6');
  blockedV6.addSubnet(`2002:${hexOf(address)}::`, 16 + bits, 'ipv6');
}
for (const [address, bits] of PRIVATE_V6) blockedV6.addSubnet(address, bits, 'ipv6');

function hexOf(address: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

/** True for private addresses and for invalid addresses. */
export const isPrivateAddress = (address: string): boolean => {
  const bare = address.replace(/%.*$/, '');
  switch (isIP(bare)) {
    case 4:
      return blockedV4.check(bare, 'ipv4');
    case 6:
      return blockedV6.check(bare, 'ipv6');
    default:
      return true;
  }
};

/** Names of this machine and its network. A name without a dot is looked up in the local domain. */
const LOCAL_NAME = /^(?:[^.]*|.*\.(?:localhost|local|internal|intranet|lan|home|corp|home\.arpa))$/;

/** Checks the name only. Its addresses are checked at lookup. */
export const isPrivateHost = (hostname: string): boolean => {
  const host = bareHost(hostname);
  return isIP(host) === 0 ? LOCAL_NAME.test(host) : isPrivateAddress(host);
};

/** `[::1]` → `::1`, `Example.com.` → `example.com`. */
export const bareHost = (hostname: string): string =>
  hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '')
    .toLowerCase();

/** True if a list of hosts, with or without ports, contains the URL's host. */
export const listsHost = (allowed: readonly string[], url: URL): boolean => {
  const host = bareHost(url.hostname);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return allowed.some((entry) => {
    const { host: name, port: entryPort = port } = splitEntry(entry);
    return name === host && entryPort === port;
  });
};

/** `::1`, `[::1]`, `[::1]:80`, `host` or `host:80`. */
const ENTRY = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/;

const splitEntry = (entry: string): { host: string; port?: string } => {
  const [, bracketed, plain, port] = ENTRY.exec(entry.trim()) ?? [];
  const host = bareHost(bracketed ?? plain ?? entry.trim());
  return port === undefined ? { host } : { host, port };
};
