import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LoadedSettings } from '../../../src/config/settings/load-settings.js';
import { UsageError } from '../../../src/protocol/skein-error.js';
import { leadModel } from '../../../src/sdk/assembly/lead-agent.js';
import { calls, type Rules } from '../../fakes/skein-process.js';
import { all, program, toolTexts } from '../api/program.js';

/** A program whose workspace defines this agent. */
const withAgent = async (more: string, rules?: Rules) => {
  const it = await program(rules);
  const file = join(it.workspace, '.skein/agents/looker.md');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `---\nname: looker\ndescription: Looks\n${more}---\nYou only look.\n`);
  const shown = () =>
    it.bodies().map(({ tools }) => (tools as { name: string }[]).map(({ name }) => name));
  return { ...it, file, shown };
};

const notices = (messages: Awaited<ReturnType<typeof all>>) =>
  messages.flatMap((it) => (it.type === 'system' && it.subtype === 'notice' ? [it.text] : []));

const BASH: Rules = [
  { match: { turn: 0 }, reply: calls('Bash', { command: 'echo honk' }) },
  { reply: 'Done.' },
];

describe('a lead that works as an agent of a file', () => {
  test('shows and runs only the tools that are listed', async () => {
    const { ask, shown, bodies } = await withAgent('tools: Grep, Read\n', BASH);
    const messages = await all(ask('Look.', { agent: 'looker', allowedTools: ['Bash'] }));
    expect(shown()[0]).toEqual(['Read', 'Grep']);
    expect(toolTexts(messages)).toEqual([
      'error: There is no tool named "Bash". The tools are: Read, Grep.',
    ]);
    expect(JSON.stringify(bodies()[0]?.system)).toContain('You only look.');
    expect(notices(messages)).toEqual([]);
  });

  test('has all tools if it lists none, and reports listed tools that do not exist', async () => {
    const { ask, shown } = await withAgent('');
    await all(ask('Look.'));
    await all(ask('Look.', { agent: 'looker' }));
    expect(shown()[1]).toEqual(shown()[0]);
    const { ask: other, file, shown: few } = await withAgent('tools: [Read, Fly]\n');
    expect(notices(await all(other('Look.', { agent: 'looker' })))).toEqual([
      `${file} lists tools that do not exist here. The agent works without: Fly.`,
    ]);
    expect(few()[0]).toEqual(['Read']);
  });

  test('has no more tools when it is resumed without --agent', async () => {
    const { ask, shown } = await withAgent('tools: Read\n', [
      { match: { turn: 0 }, reply: 'Done.' },
      { match: { turn: 1 }, reply: calls('Bash', { command: 'echo honk' }) },
      { reply: 'Done.' },
    ]);
    await all(ask('Look.', { agent: 'looker', sessionId: 'old' }));
    const messages = await all(ask('Again.', { resume: 'old', allowedTools: ['Bash'] }));
    expect(shown().at(-1)).toEqual(['Read']);
    expect(toolTexts(messages)).toEqual(['error: Bash cannot be used by this agent.']);
  });

  test('ignores --agent when it is resumed', async () => {
    const { ask, shown } = await withAgent('tools: Read\nmodel: haiku\n');
    await all(ask('Look.', { sessionId: 'old' }));
    const messages = await all(ask('Again.', { resume: 'old', agent: 'looker' }));
    expect(notices(messages)).toContain(
      'A session keeps its system prompt and its tools. Ignored: --agent (except its hooks, permissionMode and maxTurns).',
    );
    expect(shown()[1]).toEqual(shown()[0]);
  });

  test('is refused if there is no agent of that name', async () => {
    const { ask, bodies } = await withAgent('');
    const asked = all(ask('Look.', { agent: 'loker' }));
    await expect(asked).rejects.toThrow(UsageError);
    await expect(asked).rejects.toThrow(/Did you mean looker\? The agents are: .*\blooker, /);
    expect(bodies()).toEqual([]);
  });

  test('uses the model of the file unless a flag names another', async () => {
    const { ask, bodies } = await withAgent('model: haiku\n');
    await all(ask('Look.', { agent: 'looker', trust: true }));
    await all(ask('Look.', { agent: 'looker', trust: true, model: 'opus' }));
    expect(bodies().map(({ model }) => model)).toEqual(['claude-haiku-5-5', 'claude-opus-5-5']);
  });
});

describe('an agent of an untrusted workspace', () => {
  test('applies with its prompt but without its model', async () => {
    const { ask, bodies } = await withAgent('model: opus\n');
    const messages = await all(ask('Look.', { agent: 'looker' }));
    expect(bodies()[0]?.model).toBe('claude-sonnet-5-5');
    expect(JSON.stringify(bodies()[0]?.system)).toContain('You only look.');
    expect(notices(messages)).toEqual([
      expect.stringMatching(
        /^The workspace \S+ is not trusted, so its agents' model \(looker\) do not apply; review them, then run skein trust or pass --trust\.$/,
      ),
    ]);
  });
});

describe('the model of a run', () => {
  const agent = { model: 'of-agent' } as Parameters<typeof leadModel>[1];
  const from = (source: string) =>
    ({ model: { value: 'of-settings', source } }) as Pick<LoadedSettings, 'model'>;

  test.each([
    ['flag', 'of-settings'],
    ['policy', 'of-settings'],
    ['environment', 'of-agent'],
    ['local', 'of-agent'],
    ['user', 'of-agent'],
  ])('is chosen between the agent and settings of the source %s', (source, expected) => {
    expect(leadModel(from(source), agent)).toBe(expected);
    expect(leadModel(from(source), undefined)).toBe('of-settings');
    expect(leadModel({}, undefined)).toBeUndefined();
  });
});
