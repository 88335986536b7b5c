/** Atomic replacement of files, with and without fsync. */
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type ReplaceFs,
  replaceFile,
  replaceFileDurably,
  replaceFileDurablySync,
} from '../../src/lib/replace-file.js';

let folder = '';
let path = '';

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'skein-replace-'));
  path = join(folder, 'file');
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

/** The real file system. Records fsyncs and renames in order, with a name for the synced file. */
const recordingFs = () => {
  const steps: string[] = [];
  const nameOf = (fd: number) => {
    const { ino } = fs.fstatSync(fd);
    if (ino === fs.statSync(folder).ino) return 'the directory';
    return ino === fs.statSync(path).ino ? 'the renamed file' : 'the temporary file';
  };
  const recording: ReplaceFs = {
    ...fs,
    fsync: ((fd: number, done: fs.NoParamCallback) => {
      steps.push(`sync ${nameOf(fd)}`);
      fs.fsync(fd, done);
    }) as typeof fs.fsync,
    fsyncSync: (fd) => {
      steps.push(`sync ${nameOf(fd)}`);
      fs.fsyncSync(fd);
    },
    renameSync: (from, to) => {
      steps.push('rename');
      fs.renameSync(from, to);
    },
  };
  return { recording, steps };
};

const VARIANTS = [
  ['replaceFile', replaceFile],
  ['replaceFileDurably', replaceFileDurably],
  ['replaceFileDurablySync', replaceFileDurablySync],
] as const;

describe('an fsync', () => {
  test('is not called by replaceFile', () => {
    const { recording, steps } = recordingFs();
    replaceFile(path, 'new', {}, recording);
    expect(steps).toEqual(['rename']);
  });

  test.each(VARIANTS.slice(1))(
    'of the content precedes the rename, and of the directory follows it: %s',
    async (_, replace) => {
      const { recording, steps } = recordingFs();
      fs.writeFileSync(path, 'old');
      await replace(path, 'new', {}, recording);
      expect(steps).toEqual(['sync the temporary file', 'rename', 'sync the directory']);
    },
  );

  test.each(VARIANTS.slice(1))('that fails leaves the old file: %s', async (_, replace) => {
    fs.writeFileSync(path, 'old');
    const refusal = Object.assign(new Error('no disk'), { code: 'EIO' });
    const failing: ReplaceFs = {
      ...fs,
      fsync: ((_fd: number, done: fs.NoParamCallback) => done(refusal)) as typeof fs.fsync,
      fsyncSync: () => {
        throw refusal;
      },
    };
    const replacing = (async () => replace(path, 'new', {}, failing))();
    await expect(replacing).rejects.toThrow('no disk');
    expect(fs.readFileSync(path, 'utf8')).toBe('old');
    expect(fs.readdirSync(folder)).toEqual(['file']);
  });
});

describe.each(VARIANTS)('%s', (_, replace) => {
  test('writes text and bytes, readable by the owner only, and leaves no temporary file', async () => {
    await replace(path, 'text');
    expect(fs.readFileSync(path, 'utf8')).toBe('text');
    expect(fs.statSync(path).mode & 0o777).toBe(0o600);
    await replace(path, new Uint8Array([0, 255]));
    expect([...fs.readFileSync(path)]).toEqual([0, 255]);
    expect(fs.readdirSync(folder)).toEqual(['file']);
  });

  test('keeps the mode of the old file on request', async () => {
    fs.writeFileSync(path, 'old');
    fs.chmodSync(path, 0o751);
    await replace(path, 'new', { keepsOwnerAndMode: true });
    expect(fs.statSync(path).mode & 0o777).toBe(0o751);
  });

  test('gives a new file the requested mode', async () => {
    await replace(path, 'new', { mode: 0o600, keepsOwnerAndMode: true });
    expect(fs.statSync(path).mode & 0o777).toBe(0o600);
  });

  test('rejects with EEXIST and keeps an existing file if the path must be new', async () => {
    await replace(path, 'first', { mustBeNew: true });
    const second = (async () => replace(path, 'second', { mustBeNew: true }))();
    await expect(second).rejects.toMatchObject({ code: 'EEXIST' });
    expect(fs.readFileSync(path, 'utf8')).toBe('first');
    expect(fs.readdirSync(folder)).toEqual(['file']);
  });

  test('rejects an existing path on a file system without hard links', async () => {
    const linkless: ReplaceFs = {
      ...fs,
      linkSync: () => {
        throw Object.assign(new Error('no links'), { code: 'EPERM' });
      },
    };
    await replace(path, 'first', { mustBeNew: true }, linkless);
    const second = (async () => replace(path, 'second', { mustBeNew: true }, linkless))();
    await expect(second).rejects.toMatchObject({ code: 'EEXIST' });
    expect(fs.readFileSync(path, 'utf8')).toBe('first');
    expect(fs.readdirSync(folder)).toEqual(['file']);
  });

  test('uses a temporary name of its own for each call', async () => {
    const names = new Set<unknown>();
    const recording: ReplaceFs = {
      ...fs,
      renameSync: (from, to) => {
        names.add(from);
        fs.renameSync(from, to);
      },
    };
    await Promise.all([1, 2, 3].map(async (text) => replace(path, `${text}`, {}, recording)));
    expect(names.size).toBe(3);
    expect(fs.readdirSync(folder)).toEqual(['file']);
  });

  test('rejects if the directory is missing', async () => {
    const replacing = (async () => replace(join(folder, 'none', 'file'), 'text'))();
    await expect(replacing).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
