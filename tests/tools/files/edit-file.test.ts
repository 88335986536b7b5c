import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editFile } from '../../../src/tools/files/edit-file.js';
import { readFile } from '../../../src/tools/files/read-file.js';
import { memoryWorkspace } from '../../fakes/memory-workspace.js';
import { toolContext } from '../tool-context.js';

const PATH = '/work/a.ts';

const knownFile = async (content: string | Uint8Array) => {
  const workspace = memoryWorkspace({ [PATH]: content });
  const context = toolContext(workspace);
  context.applyNotes(await readFile.call({ file_path: PATH }, context));
  return { workspace, context };
};

const edit = async (
  before: string,
  old_string: string,
  new_string: string,
  replace_all = false,
) => {
  const { workspace, context } = await knownFile(before);
  const outcome = await editFile.call(
    { file_path: 'a.ts', old_string, new_string, replace_all },
    context,
  );
  return { outcome, context, text: workspace.text(PATH) };
};

describe('Edit', () => {
  test('replaces a unique passage and shows it with line numbers', async () => {
    const { text, outcome } = await edit('a\nlet b = 1\nc\n', 'b = 1', 'b = 2');
    expect(text).toBe('a\nlet b = 2\nc\n');
    expect(outcome.content).toContain('     2\tlet b = 2\n     3\tc');
  });

  test('keeps dollar signs literal', async () => {
    expect((await edit('x', 'x', "$&$1$$$'")).text).toBe("$&$1$$$'");
  });

  test('replaces every occurrence on request', async () => {
    const { text, outcome } = await edit('a b a b a', 'a', 'aa', true);
    expect(text).toBe('aa b aa b aa');
    expect(outcome.content).toContain('3 passages');
    expect(outcome.facts).toMatchObject({ replaced: 3 });
  });

  test.each([
    ['a missing passage', 'let b', 'c', 'is not in /work/a.ts'],
    ['a repeated passage', 'a', 'c', 'occurs 2 times'],
    ['an equal replacement', 'a = a', 'a = a', 'are the same'],
    ['an empty passage', '', 'x', 'use Write'],
  ])('refuses %s with advice', async (_, before, after, hint) => {
    await expect(edit('a = a', before, after)).rejects.toThrow(hint);
  });

  test('counts overlapping occurrences', async () => {
    await expect(edit('aaa', 'aa', 'b')).rejects.toThrow('occurs 2 times');
  });

  test('refuses an unread file and a missing file', async () => {
    const context = toolContext(memoryWorkspace({ [PATH]: 'x' }));
    const change = { old_string: 'x', new_string: 'y' };
    await expect(editFile.call({ file_path: PATH, ...change }, context)).rejects.toThrow(
      'Read it first',
    );
    await expect(editFile.call({ file_path: '/no', ...change }, context)).rejects.toThrow(
      'no file at',
    );
  });

  test('refuses a file that changed since it was read', async () => {
    const { workspace, context } = await knownFile('x');
    workspace.put(PATH, 'x and more');
    const call = editFile.call({ file_path: PATH, old_string: 'x', new_string: 'y' }, context);
    await expect(call).rejects.toThrow('changed since you read it');
  });

  test('accepts a file that was only touched', async () => {
    const { workspace, context } = await knownFile('x');
    workspace.put(PATH, 'x');
    await editFile.call({ file_path: PATH, old_string: 'x', new_string: 'y' }, context);
    expect(workspace.text(PATH)).toBe('y');
  });

  test('records its own change, so that the next edit needs no read', async () => {
    const { context, outcome } = await edit('one two', 'one', '1');
    context.applyNotes(outcome);
    await editFile.call({ file_path: PATH, old_string: 'two', new_string: '2' }, context);
  });

  test('refuses binary files', async () => {
    const { context } = await knownFile(Buffer.from([0x61, 0xff]));
    const call = editFile.call({ file_path: PATH, old_string: 'a', new_string: 'b' }, context);
    await expect(call).rejects.toThrow('not text');
  });

  test('refuses a lone surrogate', async () => {
    await expect(edit('x', 'x', '\ud83d')).rejects.toThrow('whole characters');
  });

  test('reports line counts and a digest of the change, but no contents', async () => {
    const { outcome } = await edit('a\nsecret\nc\n', 'a\nsecret\n', 'a\nb\nb2\n');
    expect(outcome.facts).toMatchObject({ path: PATH, linesAdded: 2, linesRemoved: 1 });
    expect(outcome.facts?.diffDigest).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(outcome.facts)).not.toContain('secret');
  });
});

describe('Edit and line endings', () => {
  test('matches across lines of a file with \\r\\n and keeps them', async () => {
    expect((await edit('a\r\nb\r\nc\r\n', 'a\nb', 'a\nx\nb')).text).toBe('a\r\nx\r\nb\r\nc\r\n');
  });

  test('uses the line ending of the file for new lines', async () => {
    expect((await edit('a\r\nb\r\n', 'b', 'b\nc')).text).toBe('a\r\nb\r\nc\r\n');
  });

  test('keeps mixed line endings outside the passage', async () => {
    expect((await edit('a\nb\r\nc\nd\r\n', 'b\nc', 'x\ny')).text).toBe('a\nx\r\ny\nd\r\n');
  });

  test('keeps the byte order mark', async () => {
    expect((await edit('\ufeffa', 'a', 'b')).text).toBe('\ufeffb');
  });

  test('refuses a change of line endings alone', async () => {
    await expect(edit('a\r\nb', 'a\r\nb', 'a\nb')).rejects.toThrow('are the same');
  });

  test('changes only the passage, with any line endings', async () => {
    const line = fc.tuple(fc.constantFrom('a', 'bb', ''), fc.constantFrom('\n', '\r\n'));
    const lines = fc.array(line).map((pairs) => pairs.flat().join(''));
    await fc.assert(
      fc.asyncProperty(lines, lines, async (before, after) => {
        const { text } = await edit(`${before}NEEDLE${after}`, 'NEEDLE', 'found');
        expect(text).toBe(`${before}found${after}`);
      }),
    );
  });
});
