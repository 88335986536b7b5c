/**
 * Address of Redis as a URL: `redis://`, `rediss://` (TLS) or `unix://` with an optional user name
 * and password; `redis+sentinel://a:26379,b:26379/mymaster`; `redis+cluster://a:7000,b:7001`; the
 * last two also with `rediss`.
 */
import { UsageError } from '../../../protocol/skein-error.js';

interface RedisNode {
  readonly host: string;
  readonly port: number;
}

interface RedisLogin {
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
}

export type RedisUrl = RedisLogin & { readonly tls: boolean } & (
    | { readonly kind: 'single'; readonly node: RedisNode }
    | { readonly kind: 'socket'; readonly path: string }
    | {
        readonly kind: 'sentinel';
        readonly nodes: readonly RedisNode[];
        readonly master: string;
        readonly sentinelPassword?: string;
      }
    | { readonly kind: 'cluster'; readonly nodes: readonly RedisNode[] }
  );

const SHAPE =
  /^(?<scheme>rediss?(?:\+(?:sentinel|cluster))?|unix):\/\/(?:(?<login>[^@/]*)@)?(?<hosts>[^/?]*)(?<path>\/[^?]*)?(?:\?(?<query>.*))?$/;

/** Throws UsageError with the expected form of an address, never with the password. */
export const parseRedisUrl = (url: string): RedisUrl => {
  const { scheme, login, hosts, path, query } = SHAPE.exec(url)?.groups ?? {};
  if (scheme === undefined) throw invalidAddress('its scheme is unknown');
  // With an unescaped @ or /, a part of the password would be shown as the host.
  const mayHaveAt = scheme === 'unix' && login === undefined;
  if ([hosts, mayHaveAt ? '' : path, query].join('').includes('@')) {
    throw invalidAddress('an @ or / of a password is written as %40 or %2F');
  }
  const options = new URLSearchParams(query);
  const [first = '', second] = (path ?? '').slice(1).split('/').map(decode);
  const common = { ...loginOf(login), tls: scheme.startsWith('rediss') };
  const withDb = (db: string | undefined) => ({ ...common, ...databaseOf(db) });
  if (scheme === 'unix') {
    if (hosts !== '') throw invalidAddress('a socket has no host, so it begins with unix:///');
    if (path === undefined || path === '/')
      throw invalidAddress('the path of the socket is missing');
    return { ...withDb(options.get('db') ?? undefined), kind: 'socket', path: decode(path) };
  }
  const isSentinel = scheme.endsWith('+sentinel');
  const nodes = (hosts ?? '').split(',').map((host) => nodeOf(host, isSentinel ? 26_379 : 6_379));
  const [node] = nodes;
  if (isSentinel) {
    if (first === '') throw invalidAddress('the name of the master is missing after the hosts');
    const sentinelPassword = options.get('sentinelPassword');
    return {
      ...withDb(second),
      kind: 'sentinel',
      nodes,
      master: first,
      ...(sentinelPassword !== null && { sentinelPassword }),
    };
  }
  if (scheme.endsWith('+cluster')) return { ...common, kind: 'cluster', nodes };
  if (node === undefined || nodes.length > 1) {
    throw invalidAddress('several hosts need redis+sentinel:// or redis+cluster://');
  }
  return { ...withDb(first), kind: 'single', node };
};

/** Returns the address for messages, without secrets. */
export const maskedRedisUrl = (address: RedisUrl): string => {
  const hostAndPort = ({ host, port }: RedisNode) =>
    `${host.includes(':') ? `[${host}]` : host}:${port}`;
  switch (address.kind) {
    case 'single':
      return hostAndPort(address.node);
    case 'socket':
      return address.path;
    case 'sentinel':
      return `${address.master} of ${address.nodes.map(hostAndPort).join(', ')}`;
    case 'cluster':
      return `the cluster at ${address.nodes.map(hostAndPort).join(', ')}`;
  }
};

const invalidAddress = (why: string): UsageError =>
  new UsageError(
    `This is not an address of Redis, because ${why}: use redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://.`,
  );

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidAddress('it has an invalid % escape');
  }
};

const loginOf = (login: string | undefined): RedisLogin => {
  if (login === undefined || login === '') return {};
  const [name = '', ...rest] = login.split(':');
  const password = rest.join(':');
  // `redis://secret@host` is a password in some tools and a name in others; Redis itself takes it
  // for a name.
  return {
    ...(name !== '' && { username: decode(name) }),
    ...(password !== '' && { password: decode(password) }),
  };
};

const databaseOf = (text: string | undefined): { readonly db?: number } => {
  if (text === undefined || text === '') return {};
  if (!/^\d{1,4}$/.test(text)) throw invalidAddress('the database after the host is not a number');
  return { db: Number(text) };
};

const nodeOf = (text: string, defaultPort: number): RedisNode => {
  const { host, bare, port } =
    /^(?:\[(?<host>[0-9a-f:.]+)\]|(?<bare>[^:[\]]*))(?::(?<port>\d{1,5}))?$/i.exec(text)?.groups ??
    {};
  const name = host ?? bare;
  if (name === undefined || Number(port ?? defaultPort) > 65_535) {
    throw invalidAddress('a host or a port in it cannot be read');
  }
  return { host: name === '' ? '127.0.0.1' : decode(name), port: Number(port ?? defaultPort) };
};
