/**
 * Key pair that signs the answers of the person at this machine (law 6). Created at the first use.
 * Two processes that create it at the same time get the same key.
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
import { UsageError } from '../../protocol/skein-error.js';
import { openRegularFile } from './io/open-regular-file.js';

export interface PersonKey {
  /** Ed25519 public key as SPKI in base64url. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

/**
 * `folder` is the `keys` folder of the state directory. Throws UsageError if the key cannot be
 * used.
 */
export const openPersonKey = (folder: string): PersonKey => {
  const path = join(folder, 'person.pem');
  const pem = readKey(path) ?? makeKey(path);
  const privateKey = parseKey(pem, path);
  return { publicKey: publicOf(privateKey), privateKey };
};

/**
 * Returns the public key, or undefined if there is no key yet. Creates no file. Throws UsageError
 * if the key cannot be used.
 */
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
    fd = openRegularFile(path);
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
    return size > MAX_KEY_BYTES ? '' : fs.readFileSync(fd, 'utf8');
  } finally {
    fs.closeSync(fd);
  }
};

/** Maximum size of the key file in bytes. A PEM of Ed25519 has about 120. */
const MAX_KEY_BYTES = 10_000;

const makeKey = (path: string): string => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  try {
    fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    fs.writeFileSync(draft, pem, { flag: 'wx', mode: 0o600 });
    // A link fails if another process was first. Then its key is used.
    fs.linkSync(draft, path);
    return pem;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const existing = code === 'EEXIST' ? readKey(path) : undefined;
    if (existing !== undefined) return existing;
    throw new UsageError(`Your key cannot be written to ${path} (${code}).`, { cause: error });
  } finally {
    fs.rmSync(draft, { force: true });
  }
};

const parseKey = (pem: string, path: string): KeyObject => {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Reported below.
  }
  throw new UsageError(`${path} holds no Ed25519 key; remove it to get a new one.`);
};
