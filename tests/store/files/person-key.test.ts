import { execFile } from 'node:child_process';
import { createPublicKey, sign, verify } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { UsageError } from '../../../src/protocol/skein-error.js';
import { openPersonKey } from '../../../src/store/files/person-key.js';

const emptyHome = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'keys');
};

describe("the person's key", () => {
  test('is created at first use, readable by the owner only, and stays the same', () => {
    const folder = emptyHome();
    const { publicKey, privateKey } = openPersonKey(folder);
    expect(openPersonKey(folder).publicKey).toBe(publicKey);
    expect(readdirSync(folder)).toEqual(['person.pem']);
    const modes = [folder, join(folder, 'person.pem')].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600]);
    const spki = Buffer.from(publicKey, 'base64url');
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
    expect(verify(null, Buffer.from('x'), key, sign(null, Buffer.from('x'), privateKey))).toBe(
      true,
    );
  });

  test('is the same for several processes that create it at once', async () => {
    const folder = emptyHome();
    const code = `const { openPersonKey } = await import('./src/store/files/person-key.ts'); console.log(openPersonKey(${JSON.stringify(folder)}).publicKey)`;
    const openInProcess = () =>
      promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code]);
    const printed = await Promise.all([openInProcess(), openInProcess(), openInProcess()]);
    expect(new Set(printed.map(({ stdout }) => stdout))).toEqual(
      new Set([`${openPersonKey(folder).publicKey}\n`]),
    );
  });

  test('is refused if other users can read the file, or if the file is no key', () => {
    const folder = emptyHome();
    openPersonKey(folder);
    const path = join(folder, 'person.pem');
    chmodSync(path, 0o644);
    expect(() => openPersonKey(folder)).toThrow(/open to others; `chmod 600` it/);
    chmodSync(path, 0o600);
    writeFileSync(path, 'nonsense');
    expect(() => openPersonKey(folder)).toThrow(UsageError);
  });
});
