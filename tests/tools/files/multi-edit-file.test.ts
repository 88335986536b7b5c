import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editFile } from '../../../src/tools/files/edit-file.js';
import { multiEditFile } from '../../../src/tools/files/multi-edit-file.js';
import { readFile } from '../../../src/tools/files/read-file.js';
import { memoryWorkspace } from '../../fakes/memory-workspace.js';
import { toolContext } from '../tool-context.js';

const PATH = '/work/a.ts';

type Edits = Parameters<typeof multiEditFile.call>[0]['edits'];

const knownFile = async (content: string | Uint8Array) => {
  const workspace = memoryWorkspace({ [PATH]: content });
  const context = toolContext(workspace);
  context.applyNotes(await readFile.call({ file_path: PATH }, context));
  return { workspace, context };
};

const edit = async (before: string | Uint8Array, edits: Edits) => {
  const { workspace, context } = await knownFile(before);
  const outcome = await multiEditFile.call({ file_path: 'a.ts', edits }, context);
  return { outcome, context, text: workspace.text(PATH) };
};

const messageOf = (error: unknown) => (error instanceof Error ? error.message : '?');

const swap = (old_string: string, new_string: string, replace_all = false) => ({
  old_string,
  new_string,
  replace_all,
});

describe('MultiEdit', () => {
  test('applies its edits in order, each to the result of the previous edit', async () => {
    const { text } = await edit('a b\n', [swap('a', 'c'), swap('c b', 'd'), swap('d', '$&')]);
    expect(text).toBe('$&\n');
  });

  test('shows the change and reports counts', async () => {
    const { outcome } = await edit('one\ntwo\nthree\nfour\n', [
      swap('two', '2'),
      swap('three', '3'),
    ]);
    expect(outcome.content).toBe(
      'Replaced 2 passages in /work/a.ts with 2 edits. It now reads:\n     1\tone\n     2\t2\n     3\t3\n     4\tfour',
    );
    expect(outcome.facts).toMatchObject({ edits: 2, replaced: 2, linesAdded: 2, linesRemoved: 2 });
  });

  test('with a single edit equals Edit for any text', async () => {
    const words = fc.array(fc.constantFrom('a', 'b', '\n', '\r\n', '$&'), { maxLength: 12 });
    const text = words.map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(text, text, text, fc.boolean(), async (before, from, to, all) => {
        const file = await knownFile(before);
        const input = { file_path: 'a.ts', ...swap(from, to, all) };
        const message = await editFile.call(input, file.context).then(() => 'done', messageOf);
        const multi = await edit(before, [swap(from, to, all)]).then(
          ({ text: after }) => ['done', after],
          (error: unknown) => [messageOf(error).replace(/^Edit 1 of 1 failed, .*?: /, ''), before],
        );
        expect(multi).toEqual([message, file.workspace.text(PATH)]);
      }),
    );
  });

  test.each([1, 2, 3])(
    'leaves the file unchanged if edit %i fails, and names the edit',
    async (k) => {
      const before = 'a b c\n';
      const edits = [swap('a', '1'), swap('b', '2'), swap('c', '3')];
      edits[k - 1] = swap('nowhere', 'x');
      const { workspace, context } = await knownFile(before);
      const failure = multiEditFile.call({ file_path: PATH, edits }, context);
      await expect(failure).rejects.toThrow(
        `Edit ${k} of 3 failed, so nothing was changed: old_string is not in ${PATH}`,
      );
      expect(workspace.text(PATH)).toBe(before);
    },
  );

  test('keeps line endings and the byte order mark', async () => {
    const { text } = await edit('\ufeffa\r\nb\r\nc\n', [
      swap('a\nb', 'x\ny'),
      swap('c\n', 'd\ne\n'),
    ]);
    expect(text).toBe('\ufeffx\r\ny\r\nd\ne\n');
  });

  test('refuses an unread file and a changed file', async () => {
    const workspace = memoryWorkspace({ [PATH]: 'a' });
    const context = toolContext(workspace);
    const call = () => multiEditFile.call({ file_path: PATH, edits: [swap('a', 'b')] }, context);
    await expect(call()).rejects.toThrow('You have not read /work/a.ts');
    context.applyNotes(await readFile.call({ file_path: PATH }, context));
    workspace.put(PATH, 'a changed');
    await expect(call()).rejects.toThrow('changed since you read it');
    expect(workspace.text(PATH)).toBe('a changed');
  });

  test('allows further edits without a read', async () => {
    const { context, outcome } = await edit('a', [swap('a', 'b')]);
    context.applyNotes(outcome);
    await multiEditFile.call({ file_path: PATH, edits: [swap('b', 'c')] }, context);
  });

  test('limits the size of the text', async () => {
    const edits = Array.from({ length: 100 }, () => swap('a', 'aa', true));
    await expect(edit('a'.repeat(1_000), edits)).rejects.toThrow(/Edit \d+ of 100 failed/);
    const huge = swap('a', 'x'.repeat(1_000_000), true);
    await expect(edit('a'.repeat(90_000), [huge])).rejects.toThrow('too large to be edited');
  });

  test('refuses lone surrogates and binary files', async () => {
    await expect(edit('a', [swap('a', '\ud83d')])).rejects.toThrow('half of a surrogate pair');
    await expect(edit('a\0', [swap('a', 'b')])).rejects.toThrow('is not text');
  });
});
