import { describe, expect, test } from 'vitest';
import { secretRedaction } from '../../../src/sdk/assembly/secret-redaction.js';
import { editFile } from '../../../src/tools/files/edit-file.js';
import { readFile } from '../../../src/tools/files/read-file.js';
import { writeFile } from '../../../src/tools/files/write-file.js';
import { runCommand } from '../../../src/tools/shell/run-command.js';
import { memoryWorkspace } from '../../fakes/memory-workspace.js';
import { toolContext } from '../../tools/tool-context.js';

// Assembled at run time, so that secret scanners do not report this file.
const KEY = `ghp_${'a1B2c3D4e5F6g7H8i9J0'}`;
const FILE = `name: ada\ntoken: ${KEY}\nport: 80\n`;

/** A file with a secret, which the agent has read with redacting tools. */
const setUp = async (text = FILE) => {
  const workspace = memoryWorkspace({ '/work/app.yaml': text });
  const context = toolContext(workspace, { approved: true });
  const { tool } = secretRedaction([]);
  const read = tool(readFile);
  const seen = context.applyNotes(await read.call({ file_path: 'app.yaml' }, context));
  const content = async () =>
    Buffer.from((await workspace.read('/work/app.yaml', 10_000)).bytes).toString();
  return { context, seen, tool, content };
};

describe('a file with a secret', () => {
  test('is shown without the secret, line by line', async () => {
    const { seen } = await setUp();
    expect(seen.content).toMatch(/^ *1\tname: ada\n *2\ttoken: ghp_\[redacted\]\n *3\tport: 80$/);
  });

  test('can still be edited around the secret', async () => {
    const { context, tool, content } = await setUp();
    const edit = { file_path: 'app.yaml', old_string: 'port: 80', new_string: 'port: 81' };
    await tool(editFile).call(edit, context);
    expect(await content()).toBe(FILE.replace('80', '81'));
  });

  test('is not overwritten with the placeholder', async () => {
    const { context, tool, content } = await setUp();
    const copied = { file_path: 'app.yaml', content: 'name: bob\ntoken: ghp_[redacted]\n' };
    await expect(tool(writeFile).call(copied, context)).rejects.toThrow(/holds a secret/);
    const edit = { file_path: 'app.yaml', old_string: 'name: ada', new_string: '[redacted]' };
    await expect(tool(editFile).call(edit, context)).rejects.toThrow(/holds a secret/);
    expect(await content()).toBe(FILE);
  });

  test('is not matched by the placeholder, and the error explains why', async () => {
    const { context, tool } = await setUp();
    const edit = { file_path: 'app.yaml', old_string: 'token: ghp_[redacted]', new_string: 'x' };
    await expect(tool(editFile).call(edit, context)).rejects.toThrow(/secret that is not shown/);
  });
});

test('a file that contains the placeholder but no secret is written unchanged', async () => {
  const { context, tool, content } = await setUp('a\n');
  await tool(writeFile).call({ file_path: 'app.yaml', content: '[redacted]\n' }, context);
  expect(await content()).toBe('[redacted]\n');
});

test('a secret in command output is redacted even if it is split into two chunks', async () => {
  const { shell, tool } = secretRedaction([]);
  const printing = shell({
    async run({ onOutput }) {
      onOutput('stdout', Buffer.from(KEY.slice(0, 7)));
      onOutput('stderr', Buffer.from([0xff, 0x0a]));
      onOutput('stdout', Buffer.from(`${KEY.slice(7)} é\n`));
      return { reason: 'exited', exitCode: 0, signal: null, cwd: '/work', durationMs: 1 };
    },
  });
  const context = toolContext(memoryWorkspace({}), { shell: printing });
  const { content } = await tool(runCommand).call({ command: 'x' }, context);
  expect(content).toBe('\ufffd\nghp_[redacted] é\n');
});
