export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/** Returns the proxy for a request, from the usual environment variables, or undefined for a direct connection. */
export const proxyFor = (url: URL, env: ProxyEnvironment): string | undefined => {
  const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const proxy = readVariable(env, name);
  if (proxy === undefined || bypasses(url, readVariable(env, 'no_proxy') ?? '')) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
};

const readVariable = (env: ProxyEnvironment, name: string): string | undefined =>
  env[name] || env[name.toUpperCase()] || undefined;

/** `::1`, `[::1]` and `[::1]:443`, or `host` and `host:443`. */
const ENTRY = /^(?:([^:]*:[^[\]]*:[^[\]]*)|(?:\[(.*)\]|([^:]*))(?::(\d+))?)$/;

/** `noProxy`: hosts, domains with or without a leading dot, `host:port`, or `*`. */
const bypasses = (url: URL, noProxy: string): boolean => {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, bare, bracketed, name = bare ?? bracketed ?? '', entryPort] =
        ENTRY.exec(entry) ?? [];
      if (entryPort !== undefined && entryPort !== port) return false;
      const domain = name.replace(/^\*?\./, '');
      return host === domain || host.endsWith(`.${domain}`);
    });
};
