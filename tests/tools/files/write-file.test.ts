import { describe, expect, test } from 'vitest';
import { readFile } from '../../../src/tools/files/read-file.js';
import { writeFile } from '../../../src/tools/files/write-file.js';
import { memoryWorkspace } from '../../fakes/memory-workspace.js';
import { toolContext } from '../tool-context.js';

const PATH = '/work/a.ts';

const setUp = (files: Record<string, string> = {}, approved = false) => {
  const workspace = memoryWorkspace(files);
  const context = toolContext(workspace, { approved });
  const write = async (content: string) =>
    context.applyNotes(await writeFile.call({ file_path: 'a.ts', content }, context));
  const read = async () => context.applyNotes(await readFile.call({ file_path: PATH }, context));
  return { workspace, context, write, read };
};

describe('Write', () => {
  test('creates a new file', async () => {
    const { workspace, write } = setUp();
    expect((await write('a\nb\n')).content).toBe('Created /work/a.ts (2 lines).');
    expect(workspace.text(PATH)).toBe('a\nb\n');
  });

  test('does not overwrite an unread file', async () => {
    const { workspace, write } = setUp({ [PATH]: 'old' });
    await expect(write('new')).rejects.toThrow('Read it first');
    expect(workspace.text(PATH)).toBe('old');
  });

  test('overwrites an unread file if a person approved this call', async () => {
    const { workspace, write } = setUp({ [PATH]: 'old' }, true);
    expect((await write('new')).content).toContain('Replaced');
    expect(workspace.text(PATH)).toBe('new');
  });

  test('does not overwrite a changed file, even with approval', async () => {
    const { workspace, write, read } = setUp({ [PATH]: 'old' }, true);
    await read();
    await workspace.write(PATH, Buffer.from('changed'));
    await expect(write('new')).rejects.toThrow('changed since you read it');
  });

  test('overwrites a known file repeatedly', async () => {
    const { workspace, write, read } = setUp({ [PATH]: 'old' });
    await read();
    expect((await write('new')).content).toContain('Replaced');
    await write('newer');
    expect(workspace.text(PATH)).toBe('newer');
  });

  test('does not overwrite a file that changed since it was read', async () => {
    const { workspace, write, read } = setUp({ [PATH]: 'old' });
    await read();
    workspace.put(PATH, 'changed');
    await expect(write('new')).rejects.toThrow('changed since you read it');
    expect(workspace.text(PATH)).toBe('changed');
  });

  test('does not overwrite a file that appears during the write', async () => {
    const { workspace, write } = setUp();
    const stat = workspace.stat;
    workspace.stat = async (path) => {
      const found = await stat(path);
      workspace.put(path, 'of somebody else');
      return found;
    };
    await expect(write('mine')).rejects.toThrow('changed');
    expect(workspace.text(PATH)).toBe('of somebody else');
  });

  test.each(['new/', 'new/.', 'src/..'])(
    'creates no file for the directory %s',
    async (file_path) => {
      const { context } = setUp();
      const writing = writeFile.call({ file_path, content: 'x' }, context);
      await expect(writing).rejects.toThrow(`${file_path} names a directory`);
    },
  );

  test('refuses a directory', async () => {
    const { write } = setUp({ [`${PATH}/inside`]: '' });
    await expect(write('x')).rejects.toThrow('not a regular file');
  });

  test('reports sizes and a digest, but no contents', async () => {
    const { write } = setUp();
    expect((await write('secret\n')).facts).toMatchObject({ created: true, lines: 1, bytes: 7 });
    expect(JSON.stringify((await write('secret\n')).facts)).not.toContain('secret');
  });
});
