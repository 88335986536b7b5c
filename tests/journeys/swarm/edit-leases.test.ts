/** Two agents without worktrees that change the same file, a path and a symlink to it. */
import { lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { calls, resultsIn, setScene } from '../../fakes/skein-process.js';

const AGENTS = JSON.stringify({
  writer: { description: 'Writes', prompt: 'You write.', tools: 'Write, Edit, Read, Bash' },
});
const TOOLS = ['--allowed-tools', 'Bash', 'Write', 'Edit'];

const writer = (name: string) => ({
  name: 'Task',
  input: {
    description: `Part of ${name}`,
    prompt: `You are ${name}.`,
    name,
    subagent_type: 'writer',
    run_in_background: true,
  },
});
const until = (file: string) =>
  calls('Bash', { command: `until [ -e ${file} ]; do sleep 0.1; done` });
const edit = { file_path: 'link.txt', old_string: 'of ann', new_string: 'of bob' };

test('an agent cannot change a file that another agent holds, even by a symlink, until that agent has ended', async () => {
  const scene = await setScene([
    { match: { lastUser: 'Begin', turn: 0 }, reply: { tool_use: [writer('ann'), writer('bob')] } },
    {
      match: { firstUser: 'You are ann.', turn: 0 },
      reply: calls('Write', { file_path: 'shared.txt', content: 'Words of ann\n' }),
    },
    { match: { firstUser: 'You are ann.', turn: 1 }, reply: until('told') },
    { match: { firstUser: 'You are bob.', turn: 0 }, reply: until('shared.txt') },
    {
      match: { firstUser: 'You are bob.', turn: 1 },
      reply: calls('Read', { file_path: 'link.txt' }),
    },
    { match: { firstUser: 'You are bob.', turn: 2 }, reply: calls('Edit', edit) },
    { match: { firstUser: 'You are bob.', turn: 3 }, reply: until('ended') },
    { match: { firstUser: 'You are bob.', turn: 4 }, reply: calls('Edit', edit) },
    { reply: 'Done.' },
  ]);
  const at = (name: string) => join(scene.workspace, name);
  symlinkSync('shared.txt', at('link.txt'));
  const run = scene.start(['-p', 'Begin', '--agents', AGENTS, ...TOOLS]);
  run.endInput();
  const toolResults = () =>
    scene.bodies().flatMap((body) => resultsIn(body).map(({ content }) => String(content)));
  const refused = await eventually('the edit of bob is refused', () =>
    toolResults().find((text) => text.includes('is being changed by')),
  );
  expect(refused).toMatch(
    /link\.txt is being changed by writer ann a_\w+ "Part of ann", which has held it since 20[-:\dT]+Z\. Nothing was written\./,
  );
  expect(readFileSync(at('shared.txt'), 'utf8')).toBe('Words of ann\n');

  writeFileSync(at('told'), '');
  const isReported = /writer ann a_\w+ .{1,4}Part of ann.{1,4} completed/;
  await eventually('the lead has the report of ann', () =>
    scene.bodies().some(({ messages }) => isReported.test(JSON.stringify(messages))),
  );
  writeFileSync(at('ended'), '');
  expect(await run.ended).toMatchObject({ code: 0 });
  expect(readFileSync(at('shared.txt'), 'utf8')).toBe('Words of bob\n');
  expect(lstatSync(at('link.txt')).isSymbolicLink()).toBe(true);
});
