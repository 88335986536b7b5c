/**
 * Network checks: the key, the model server and the proxy. Contacts the server only with
 * `--online`.
 */
import { proxyFor } from '../../../lib/proxy-for.js';
import { httpExchange } from '../../../model/http-exchange.js';
import { redact } from '../../../policy/redaction/redact.js';
import { type Provider, providerOf } from '../../../sdk/assembly/options/provider.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import type { DoctorCheck, Finding } from './doctor-check.js';

const SERVER = 'https://api.anthropic.com';

/** Checks that a key is set. Never prints any part of the key. */
export const keyFinding = (env: TerminalHost['env']): Finding => {
  const names = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'].filter((name) => env[name]);
  const [name] = names;
  if (name === undefined) {
    const fix = 'Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN); skein demo needs none.';
    return { status: 'fail', found: 'no key is set', fix };
  }
  const value = env[name] ?? '';
  if (value !== value.trim() || /[^\x21-\x7E]/.test(value)) {
    const fix = `Set ${name} again, without spaces, quotes or line breaks around it.`;
    return { status: 'fail', found: `${name} contains characters that no key has`, fix };
  }
  return { status: 'ok', found: `${names.join(' and ')} set` };
};

const checkKey: DoctorCheck = { name: 'key', run: ({ env }) => keyFinding(env) };

const checkServer = (isOnline: boolean): DoctorCheck => ({
  name: 'server',
  async run({ env }, signal) {
    const base = env.ANTHROPIC_BASE_URL || SERVER;
    const url = URL.canParse(base) ? new URL(base) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) {
      const fix = 'Set ANTHROPIC_BASE_URL to a URL that starts with https:// or http://.';
      return { status: 'fail', found: `${plainText(redact(base), 80)} is not a URL`, fix };
    }
    const shown = plainText(redact(base), 80);
    if (!isOnline) return { status: 'ok', found: `${shown}, not checked (--online checks it)` };
    return askServer(base, shown, env, signal);
  },
});

const askServer = async (
  base: string,
  shown: string,
  env: TerminalHost['env'],
  signal: AbortSignal,
): Promise<Finding> => {
  let provider: Provider;
  try {
    provider = providerOf(env);
  } catch {
    return { status: 'note', found: `${shown}, not checked: no key is set` };
  }
  const headers: Record<string, string> = {
    'anthropic-version': '2023-06-01',
    ...(provider.apiKey === undefined
      ? { authorization: `Bearer ${provider.authToken}` }
      : { 'x-api-key': provider.apiKey }),
  };
  const sendTo = httpExchange({ env, stallWatch: { watch: () => () => undefined } });
  const url = new URL(`${base.replace(/\/+$/, '')}/v1/models?limit=1`);
  // Only the status matters, so the connection is closed without reading the body.
  const hangUp = new AbortController();
  try {
    const eitherSignal = AbortSignal.any([signal, hangUp.signal]);
    const ask = sendTo({ url, method: 'GET', headers: Object.entries(headers) });
    const { statusCode = 0 } = await ask([], eitherSignal);
    return answerFinding(statusCode, shown);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      status: 'fail',
      found: `${shown} cannot be reached: ${plainText(redact(reason), 120)}`,
      fix: 'Check the address, the network, and HTTPS_PROXY and NODE_EXTRA_CA_CERTS.',
    };
  } finally {
    hangUp.abort();
  }
};

export const answerFinding = (status: number, shown: string): Finding => {
  if (status === 200) return { status: 'ok', found: `${shown} answers and accepts the key` };
  if (status === 401 || status === 403) {
    return {
      status: 'fail',
      found: `${shown} refuses the key (HTTP ${status})`,
      fix: 'Set a key that is valid there.',
    };
  }
  if (status === 404 || status === 405) {
    const found = `${shown} answers, but has no list of models, so the key was not checked`;
    return { status: 'note', found };
  }
  return {
    status: 'warn',
    found: `${shown} answers with HTTP ${status}`,
    fix: 'Try again later.',
  };
};

const VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];

export const proxyFinding = (env: TerminalHost['env']): Finding => {
  const broken = VARIABLES.find((name) => {
    const value = env[name];
    return value && !isProxy(value.includes('://') ? value : `http://${value}`);
  });
  if (broken !== undefined) {
    const fix = `Set ${broken} to a URL such as http://proxy:8080, or unset it.`;
    return { status: 'fail', found: `${broken} is not the URL of a proxy`, fix };
  }
  const base = env.ANTHROPIC_BASE_URL || SERVER;
  const proxy = URL.canParse(base) ? proxyFor(new URL(base), env) : undefined;
  if (proxy === undefined) return { status: 'ok', found: 'no proxy for the model server' };
  return { status: 'ok', found: `through ${plainText(redact(proxy), 80)}` };
};

const isProxy = (value: string): boolean =>
  URL.canParse(value) &&
  /^https?:$/.test(new URL(value).protocol) &&
  new URL(value).hostname !== '';

const checkProxy: DoctorCheck = { name: 'proxy', run: ({ env }) => proxyFinding(env) };

export const networkChecks = (isOnline: boolean): readonly DoctorCheck[] => [
  checkKey,
  checkServer(isOnline),
  checkProxy,
];
