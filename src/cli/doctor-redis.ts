/** The check of Redis: a server on the PATH, or a real PING to the one that is configured. */
import net from 'node:net';
import tls from 'node:tls';
import { redact } from '../policy/redaction.js';
import { type Check, type Finding, probe } from './doctor-check.js';
import { plainText } from './harmless-text.js';
import type { Machine } from './machine.js';

const NOT_NEEDED = 'Nothing has to be done: this version keeps its state in files.';

export const checkRedis: Check = {
  name: 'redis',
  async run(machine, signal) {
    const configured = [machine.env.SKEIN_STORE, machine.env.SKEIN_REDIS_URL].find(Boolean);
    if (configured !== undefined && configured !== 'embedded') return ping(configured, signal);
    const server = await probe(['redis-server', '--version'], machine, signal);
    if (server.kind === 'ran') return { status: 'ok', found: plainText(server.output, 80) };
    return { status: 'note', found: 'no server on the PATH, none configured', fix: NOT_NEEDED };
  },
};

const ping = async (address: string, signal: AbortSignal): Promise<Finding> => {
  const shown = plainText(redact(address), 80);
  const target = targetOf(address);
  if (target === undefined) {
    const found = `${shown} is no address that can be tried`;
    return { status: 'note', found, fix: 'Use redis://, rediss:// or unix:// in SKEIN_REDIS_URL.' };
  }
  try {
    const answer = await exchange(target, signal);
    if (answer.startsWith('+PONG')) return { status: 'ok', found: `${shown} answers` };
    const fix = 'Check the name and the password in SKEIN_REDIS_URL.';
    return { status: 'warn', found: `${shown} answers ${plainText(redact(answer), 80)}`, fix };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const found = `${shown} cannot be reached (${code ?? message})`;
    return { status: 'warn', found, fix: 'Start it, or unset SKEIN_STORE and SKEIN_REDIS_URL.' };
  }
};

interface Target {
  readonly connect: () => net.Socket;
  readonly login: readonly string[];
}

const targetOf = (address: string): Target | undefined => {
  if (!URL.canParse(address)) return undefined;
  const { protocol, hostname, port, pathname, username, password } = new URL(address);
  const words = [username, password].filter((word) => word !== '').map(decodeURIComponent);
  const login = password === '' ? [] : ['AUTH', ...words];
  const host = hostname.replace(/^\[|\]$/g, '') || '127.0.0.1';
  const place = { host, port: Number(port) || 6379 };
  if (protocol === 'redis:') return { login, connect: () => net.connect(place) };
  if (protocol === 'rediss:') {
    return {
      login,
      connect: () => tls.connect({ ...place, servername: net.isIP(host) ? '' : host }),
    };
  }
  if (protocol === 'unix:')
    return { login, connect: () => net.connect(decodeURIComponent(pathname)) };
  return undefined;
};

const PING_LIMIT_MS = 3_000;
const LONGEST_ANSWER = 4_096;

/** The first line that is not the answer to the login. */
const exchange = ({ connect, login }: Target, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect();
    let said = '';
    const abort = () => socket.destroy(new Error('no answer in time'));
    signal.addEventListener('abort', abort, { once: true });
    socket.setTimeout(PING_LIMIT_MS, abort);
    const end = (finish: () => void) => {
      signal.removeEventListener('abort', abort);
      socket.destroy();
      finish();
    };
    socket.setEncoding('utf8');
    socket.once(socket instanceof tls.TLSSocket ? 'secureConnect' : 'connect', () => {
      socket.write(`${login.length > 0 ? command(login) : ''}${command(['PING'])}`);
    });
    socket.on('data', (text: string) => {
      said += text;
      const lines = said.split('\r\n').slice(0, -1);
      const answer = lines.find((line) => line !== '+OK');
      if (answer !== undefined) end(() => resolve(answer));
      else if (said.length > LONGEST_ANSWER) end(() => reject(new Error('it is not Redis')));
    });
    socket.once('error', (error) => end(() => reject(error)));
    socket.once('close', () => end(() => reject(new Error('the connection was closed'))));
  });

const command = (words: readonly string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;

/** Kept apart so that a settings file may name the store as well. */
export const storeOf = (env: Machine['env'], setting: string | undefined): Machine['env'] =>
  env.SKEIN_STORE || env.SKEIN_REDIS_URL || setting === undefined
    ? env
    : { ...env, SKEIN_STORE: setting };
