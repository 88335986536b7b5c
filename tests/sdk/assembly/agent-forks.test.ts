/** A fork has only the permissions of its agent. Uses the real policy, hooks and shell. */
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

test('the fork of an agent with a shell has a shell too', async () => {
  expect((await attempt({})).made).toBe(true);
});

test.each<[string, Partial<AgentDescription>, RegExp]>([
  ['its hooks', { hooks: BLOCKS }, /^error: Denied by the hook exit 2/],
  ['its partly allowed tools', { tools: 'Bash(git log:*), Task' }, /allows Bash only for/],
  ['its partly denied tools', { disallowedTools: 'Bash(touch:*)' }, /denies Bash/],
  ['plan mode', { permissionMode: 'plan' }, /^error: Bash .* plan mode allows none/],
  ['dontAsk mode', { permissionMode: 'dontAsk' }, /^error: No .* allows Bash/],
])('a fork keeps the limits of its agent: %s', async (_, fields, why) => {
  const { made, texts } = await attempt(fields);
  expect(made).toBe(false);
  expect(texts[0]).toMatch(why);
});
