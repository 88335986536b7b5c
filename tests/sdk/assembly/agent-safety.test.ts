/** Permissions of sub-agents, with the real policy, tools and files (W9). */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { QueryOptions } from '../../../src/sdk/api/query-options.js';
import type { Rules } from '../../fakes/skein-process.js';
import { all, program, resultOf, toolTexts } from '../api/program.js';

const AGENTS = {
  plain: { description: 'Says nothing of tools', prompt: 'You are plain.' },
  doer: { description: 'Does it', prompt: 'You do.', tools: ['Bash', 'Write', 'Task'] },
  looker: { description: 'Looks', prompt: 'You look.', tools: ['Read', 'Task'] },
};

const task = (prompt: string, subagent_type?: string) => ({
  name: 'Task',
  input: { description: 'x', prompt, ...(subagent_type && { subagent_type }) },
});

const EFFECTS = [
  { name: 'Bash', input: { command: 'touch by-shell' } },
  { name: 'Write', input: { file_path: 'by-write', content: 'x' } },
];

/** An agent whose last message is `Do it.` calls Bash and Write. */
const doing: Rules = [
  { match: { lastUser: 'Do it.' }, reply: { text: 'Trying.', tool_use: EFFECTS } },
];

/** Two setups in which a lead has all permissions. */
const BYPASS: QueryOptions = { permissionMode: 'bypassPermissions' };
const BY_RULES: QueryOptions = { allowedTools: ['Bash', 'Write'] };

/** Runs a lead with all permissions, and returns the effects of its agents. */
const attempt = async (rules: Rules, power = BYPASS) => {
  const { ask, workspace, bodies } = await program([...rules, { reply: 'Over.' }]);
  const query = ask('Begin.', {
    ...power,
    agents: AGENTS,
    settings: { skein: { maxDepth: 2 } },
  });
  const messages = await all(query);
  const made = ['by-shell', 'by-write'].filter((name) => existsSync(join(workspace, name)));
  return { messages, made, bodies, texts: toolTexts(messages) };
};

describe('an agent of a lead with all permissions', () => {
  test.each(['plain', 'explorer'])(
    'can neither run commands nor write files as %s',
    async (type) => {
      const { made, texts } = await attempt([
        { match: { lastUser: 'Begin.' }, reply: { tool_use: task('Do it.', type) } },
        ...doing,
      ]);
      expect(made).toEqual([]);
      expect(texts.filter((text) => /^error: .*(Bash|Write)/.test(text))).toHaveLength(2);
    },
  );

  test('has the tools of its definition', async () => {
    const { made } = await attempt([
      { match: { lastUser: 'Begin.' }, reply: { tool_use: task('Do it.', 'doer') } },
      ...doing,
    ]);
    expect(made).toEqual(['by-shell', 'by-write']);
  });

  test.each([
    ['by its mode', BYPASS],
    ['by rules', BY_RULES],
  ])(
    'cannot pass to its own agents or forks the permissions that its lead has %s',
    async (_, power) => {
      const rules: Rules = [
        { match: { lastUser: 'Begin.' }, reply: { tool_use: task('Delegate.', 'looker') } },
        {
          match: { lastUser: 'Delegate.' },
          reply: { tool_use: [task('Do it.', 'doer'), task('Do it.')] },
        },
        ...doing,
      ];
      const { made, texts } = await attempt(rules, power);
      expect(made).toEqual([]);
      expect(texts.filter((text) => /^error: .*(Bash|Write)/.test(text))).toHaveLength(4);
    },
  );

  test('starts agents no deeper than the limit', async () => {
    const { texts } = await attempt([
      { match: { toolResult: 'skein.maxDepth' }, reply: 'Alone.' },
      { match: { toolResult: '/./' }, reply: 'Over.' },
      { reply: { tool_use: task('Deeper.', 'doer') } },
    ]);
    const refused = texts.filter((text) => text.includes('nested 2 deep (skein.maxDepth)'));
    expect(refused).toHaveLength(1);
    expect(texts.filter((text) => text.includes('completed: 2 turns'))).toHaveLength(2);
  });
});

describe('a lead receives about an agent', () => {
  test('the problem of its file, if the file is not valid', async () => {
    const { ask, workspace } = await program([
      { match: { lastUser: 'Begin.' }, reply: { tool_use: task('Look.', 'scout') } },
      { reply: 'Over.' },
    ]);
    const file = join(workspace, '.claude/agents/scout.md');
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, '---\nname: scout\ndescription: Looks\ntools: 7\n---\nYou look.');
    const [text = ''] = toolTexts(await all(ask('Begin.')));
    expect(text).toContain(
      `There is no agent type "scout", because ${file} does not describe an agent, at line 4: tools: write`,
    );
    expect(text).toMatch(/The types are: .*\bexplorer, /);
  });

  test('its report, but not the results that it read', async () => {
    const { ask, workspace, bodies } = await program([
      { match: { lastUser: 'Begin.' }, reply: { tool_use: task('Read it.', 'explorer') } },
      {
        match: { lastUser: 'Read it.' },
        reply: { tool_use: { name: 'Read', input: { file_path: 'long.txt' } } },
      },
      { match: { toolResult: 'needle' }, reply: 'It is about needles.' },
      { reply: 'Over.' },
    ]);
    await writeFile(join(workspace, 'long.txt'), 'A needle in a haystack.\n');
    await resultOf(ask('Begin.'));
    const last = JSON.stringify(bodies().at(-1));
    expect(last).toContain('It is about needles.');
    expect(last).not.toContain('haystack');
  });

  test('why it failed, in a form that programs can parse, with its partial text', async () => {
    const { texts } = await attempt([
      { match: { lastUser: 'Begin.' }, reply: { tool_use: task('Fail.', 'explorer') } },
      {
        match: { lastUser: 'Fail.' },
        reply: { text: 'So far.', tool_use: { name: 'Glob', input: { pattern: '*' } } },
      },
      {
        match: { firstUser: 'Fail.' },
        reply: { error: { status: 400, message: 'No.' } },
      },
    ]);
    const [head = '', failure = '{}', ...rest] = (texts.at(-1) ?? '').split('\n');
    expect(head).toMatch(/^error: Agent explorer a_\w+ "x" failed: 1 turn/);
    expect(JSON.parse(failure)).toMatchObject({ status: 'failed', reason: 'model_error' });
    expect(rest.join('\n')).toContain('So far.');
  });
});
