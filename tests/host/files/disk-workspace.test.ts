import { execFileSync } from 'node:child_process';
import {
  chmod,
  lstat,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { diskWorkspace } from '../../../src/host/files/disk-workspace.js';
import { editFile } from '../../../src/tools/files/edit-file.js';
import { readFile as readTool } from '../../../src/tools/files/read-file.js';
import { toolContext } from '../../tools/tool-context.js';

const workspace = diskWorkspace('/home/goose');
const bytes = (text: string) => Buffer.from(text);
let directory = '';
const at = (name: string) => join(directory, name);

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'skein-workspace-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe('a path of the disk workspace', () => {
  test('may start with ~, and is normalised without reading the disk', () => {
    expect(workspace.resolve('~/a/../b')).toBe('/home/goose/b');
    expect(workspace.resolve('~')).toBe('/home/goose');
    expect(workspace.resolve('/no/./such/../file')).toBe('/no/file');
  });
});

describe('reading a file', () => {
  test('returns all bytes and their stamp', async () => {
    await writeFile(at('a'), 'hello');
    const { bytes: read, stamp } = await workspace.read(at('a'), 100);
    expect(Buffer.from(read).toString()).toBe('hello');
    expect(stamp).toMatchObject({
      size: 5,
      digest: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    });
  });

  test('refuses a file above the limit', async () => {
    await writeFile(at('a'), 'hello');
    await expect(workspace.read(at('a'), 4)).rejects.toMatchObject({ why: 'too-large' });
    expect((await workspace.read(at('a'), 5)).bytes.length).toBe(5);
  });

  test('refuses a pipe without waiting, and a device', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    await expect(workspace.read(at('pipe'), 10)).rejects.toMatchObject({ why: 'not-a-file' });
    await expect(workspace.write(at('pipe'), bytes('x'))).rejects.toMatchObject({
      why: 'not-a-file',
    });
    await expect(workspace.read('/dev/zero', 10)).rejects.toMatchObject({ why: 'not-a-file' });
  });

  test.each([
    ['a missing file', 'nope', 'missing'],
    ['a directory', '.', 'directory'],
    ['a path below a file', 'file/inside', 'missing'],
    ['circular links', 'circle', 'io'],
  ])('reports %s', async (_, name, why) => {
    await writeFile(at('file'), '');
    await symlink('circle', at('circle'));
    await expect(workspace.read(at(name), 10)).rejects.toMatchObject({ why });
  });

  test('reads a file of /proc, which has size 0', async () => {
    const { bytes: read } = await workspace
      .read('/proc/self/status', 100_000)
      .catch(() => ({ bytes: bytes('x') }));
    expect(read.length).toBeGreaterThan(0);
  });
});

describe('writing a file', () => {
  test('creates missing directories', async () => {
    const stamp = await workspace.write(at('x/y/a'), bytes('new'));
    expect(await readFile(at('x/y/a'), 'utf8')).toBe('new');
    expect((await workspace.read(at('x/y/a'), 10)).stamp).toEqual(stamp);
  });

  test('keeps the mode, regardless of the umask', async () => {
    await writeFile(at('a'), 'old');
    await chmod(at('a'), 0o777);
    await workspace.write(at('a'), bytes('new'));
    expect((await stat(at('a'))).mode & 0o7777).toBe(0o777);
  });

  test('follows a link, even to a missing file', async () => {
    await writeFile(at('a'), 'old');
    await symlink('a', at('link'));
    await symlink('b', at('dangling'));
    await workspace.write(at('link'), bytes('new'));
    await workspace.write(at('dangling'), bytes('born'), 'absent');
    expect((await lstat(at('link'))).isSymbolicLink()).toBe(true);
    expect(await readFile(at('a'), 'utf8')).toBe('new');
    expect(await readFile(at('b'), 'utf8')).toBe('born');
  });

  test('leaves no other files behind', async () => {
    await workspace.write(at('a'), bytes('1'), 'absent');
    await workspace.write(at('a'), bytes('2'));
    await expect(workspace.write(at('a'), bytes('3'), 'absent')).rejects.toMatchObject({
      why: 'changed',
    });
    expect(await readdir(directory)).toEqual(['a']);
  });

  test.each([
    ['other bytes of the same length', 'abd'],
    ['more bytes', 'abcd'],
  ])('fails if the file has %s than expected', async (_, now) => {
    const stamp = await workspace.write(at('a'), bytes('abc'));
    await writeFile(at('a'), now);
    await expect(workspace.write(at('a'), bytes('x'), stamp)).rejects.toMatchObject({
      why: 'changed',
    });
    expect(await readFile(at('a'), 'utf8')).toBe(now);
  });

  test('fails if the expected file is gone', async () => {
    const stamp = await workspace.write(at('a'), bytes('abc'));
    await rm(at('a'));
    await expect(workspace.write(at('a'), bytes('x'), stamp)).rejects.toMatchObject({
      why: 'changed',
    });
  });

  test('succeeds for only one of many writers that expect the same stamp', async () => {
    const stamp = await workspace.write(at('a'), bytes('start'));
    const writers = Array.from({ length: 20 }, (_, n) =>
      workspace.write(at('a'), bytes(`${n}`), stamp),
    );
    const results = await Promise.allSettled(writers);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('succeeds for only one of many writers that create the same file', async () => {
    const writers = Array.from({ length: 20 }, (_, n) =>
      workspace.write(at('a'), bytes(`${n}`), 'absent'),
    );
    const results = await Promise.allSettled(writers);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('refuses a directory', async () => {
    await expect(workspace.write(directory, bytes('x'))).rejects.toMatchObject({
      why: 'directory',
    });
  });
});

test('Edit on a real file keeps its line endings and its mode', async () => {
  await writeFile(at('run.sh'), 'one\r\ntwo\r\n');
  await chmod(at('run.sh'), 0o755);
  const context = toolContext(workspace, { cwd: directory });
  context.applyNotes(await readTool.call({ file_path: 'run.sh' }, context));
  await editFile.call({ file_path: 'run.sh', old_string: 'one\ntwo', new_string: '1\n2' }, context);
  expect(await readFile(at('run.sh'), 'utf8')).toBe('1\r\n2\r\n');
  expect((await stat(at('run.sh'))).mode & 0o777).toBe(0o755);
});
