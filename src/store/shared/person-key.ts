/**
 * The key pair of the person at this machine: what is signed with it was answered by them (law 6). It
 * is made at first use; of two processes that make one at once both get the same.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '../../protocol/errors.js';
import { openRegular } from '../files/io/regular-file.js';

export interface PersonKey {
  /** Ed25519, SPKI in base64url. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

/** In the folder `keys` of the state directory. Throws a UsageError for one that cannot be used. */
export const openPersonKey = (folder: string): PersonKey => {
  const path = join(folder, 'person.pem');
  const pem = readKey(path) ?? makeKey(path);
  const privateKey = parseKey(pem, path);
  return { publicKey: publicOf(privateKey), privateKey };
};

/** What others may know of it; undefined while there is none. Makes nothing. Throws a UsageError. */
export const knownPersonKey = (folder: string): string | undefined => {
  const path = join(folder, 'person.pem');
  const pem = readKey(path);
  return pem === undefined ? undefined : publicOf(parseKey(pem, path));
};

const publicOf = (privateKey: KeyObject): string =>
  createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64url');

const readKey = (path: string): string | undefined => {
  let fd: number;
  try {
    fd = openRegular(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new UsageError(`Your key ${path} cannot be read (${code}); make it a file of your own.`, {
      cause: error,
    });
  }
  try {
    const { mode, size } = fs.fstatSync(fd);
    if ((mode & 0o077) !== 0) {
      throw new UsageError(
        `Your key ${path} is open to others; \`chmod 600\` it, or remove it to get a new one.`,
      );
    }
    return size > LONGEST ? '' : fs.readFileSync(fd, 'utf8');
  } finally {
    fs.closeSync(fd);
  }
};

/** A PEM of Ed25519 has some 120. */
const LONGEST = 10_000;

const makeKey = (path: string): string => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  try {
    fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    fs.writeFileSync(draft, pem, { flag: 'wx', mode: 0o600 });
    // A link fails where somebody else was first, and then theirs counts.
    fs.linkSync(draft, path);
    return pem;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const theirs = code === 'EEXIST' ? readKey(path) : undefined;
    if (theirs !== undefined) return theirs;
    throw new UsageError(`Your key cannot be kept as ${path} (${code}).`, { cause: error });
  } finally {
    fs.rmSync(draft, { force: true });
  }
};

const parseKey = (pem: string, path: string): KeyObject => {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Said below.
  }
  throw new UsageError(`${path} holds no Ed25519 key; remove it to get a new one.`);
};
