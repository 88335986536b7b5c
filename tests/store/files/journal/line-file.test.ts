import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LineFile, readLines } from '../../../../src/store/files/journal/line-file.js';
import { storageError } from '../../../../src/store/shared/storage-error.js';
import { temporaryFolder } from '../../session-folder.js';

const someFile = () => join(temporaryFolder(), 'lines.jsonl');

describe('a file of lines', () => {
  test('has all appended lines in order', () => {
    const path = someFile();
    const file = new LineFile(path);
    for (const line of ['one', 'zwei ü', '🦢']) file.append(`${line}\n`);
    expect(readLines(path)).toEqual(['one', 'zwei ü', '🦢']);
    file.close();
    const again = new LineFile(path);
    again.append('four\n');
    expect(readLines(path)).toEqual(['one', 'zwei ü', '🦢', 'four']);
    again.close();
  });

  test('has no lines if it does not exist', () => {
    expect(readLines(someFile())).toEqual([]);
  });

  test('does not overwrite lines that another writer appended', () => {
    const path = someFile();
    const [first, second] = [new LineFile(path), new LineFile(path)];
    first.append('first\n');
    second.append('second\n');
    first.append('third\n');
    expect(readLines(path)).toEqual(['first', 'second', 'third']);
  });

  test('throws an error with the path and the reason if it cannot be opened', () => {
    const path = join(temporaryFolder(), 'gone', 'lines.jsonl');
    expect(() => new LineFile(path)).toThrow(`Could not write ${path}: its directory is gone`);
  });

  test('moves a torn last line of any length to a separate file', () => {
    for (const length of [1, 65_535, 65_536, 65_537, 200_000]) {
      const path = someFile();
      fs.writeFileSync(path, 'x'.repeat(length));
      const file = new LineFile(path);
      file.append('next\n');
      expect(readLines(path)).toEqual(['next']);
      expect(fs.statSync(`${path}.torn`).size).toBe(length + 1);
      file.close();
    }
  });
});

test.each([
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EROFS', 'the file system is read-only'],
  ['EACCES', 'permission is denied'],
  ['EFBIG', 'the file may not grow'],
  ['EMFILE', 'too many files are open; raise the limit'],
  ['EIO', 'it failed with EIO'],
])('a storage error for %s explains the code', (code, words) => {
  const cause = Object.assign(new Error(code), { code });
  const error = storageError(cause, '/x');
  expect(error.message).toContain(words);
  expect(error.cause).toBe(cause);
  expect(error.code).toBe('storage');
});
