/** A fork has the permissions of its agent and no more, with the real policy, hooks and shell. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AgentDescription } from '../../../src/config/agents/read-agents-flag.js';
import { all, program, toolTexts } from '../api/program.js';

const fork = (prompt: string) => ({ name: 'Task', input: { description: 'x', prompt } });
const touch = { name: 'Bash', input: { command: 'touch by-shell' } };
const BLOCKS = {
  PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'exit 2' }] }],
};

/** Runs a shell call in a fork of a fork of an agent with these fields, and returns its result. */
const attempt = async (fields: Partial<AgentDescription>) => {
  const { ask, workspace } = await program([
    {
      match: { lastUser: 'Begin.' },
      reply: {
        tool_use: { name: 'Task', input: { ...fork('Hand on.').input, subagent_type: 'guarded' } },
      },
    },
    { match: { lastUser: 'Hand on.' }, reply: { tool_use: fork('Hand it on.') } },
    { match: { lastUser: 'Hand it on.' }, reply: { tool_use: fork('Do it.') } },
    { match: { lastUser: 'Do it.' }, reply: { tool_use: touch } },
    { reply: 'Over.' },
  ]);
  const guarded = {
    description: 'Guarded',
    prompt: 'You are guarded.',
    tools: 'Bash, Task',
    ...fields,
  };
  const messages = await all(
    ask('Begin.', { permissionMode: 'bypassPermissions', agents: { guarded } }),
  );
  return { made: existsSync(join(workspace, 'by-shell')), texts: toolTexts(messages) };
};

test('the fork of an agent that has a shell has one too', async () => {
  expect((await attempt({})).made).toBe(true);
});

test.each<[string, Partial<AgentDescription>, RegExp]>([
  ['its hooks', { hooks: BLOCKS }, /^error: Denied by the hook exit 2/],
  ['the parts of tools that it has', { tools: 'Bash(git log:*), Task' }, /allows Bash only for/],
  ['the parts that it is denied', { disallowedTools: 'Bash(touch:*)' }, /denies Bash/],
  ['its mode plan', { permissionMode: 'plan' }, /^error: Bash .* plan mode allows none/],
  ['its mode dontAsk', { permissionMode: 'dontAsk' }, /^error: No .* allows Bash/],
])('a fork does not escape from %s', async (_, fields, why) => {
  const { made, texts } = await attempt(fields);
  expect(made).toBe(false);
  expect(texts[0]).toMatch(why);
});
