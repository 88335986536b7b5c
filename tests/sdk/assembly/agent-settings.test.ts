/** Fields of an agent definition, and their effect on the agent that a lead starts. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentDescription } from '../../../src/config/agents/read-agents-flag.js';
import type { Tool } from '../../../src/protocol/tools/tool.js';
import { customTool } from '../../../src/sdk/api/custom-tool.js';
import { calls, type Line, type Reply } from '../../fakes/skein-process.js';
import { all, program, toolTexts } from '../api/program.js';

const ROLE = 'You are one of a kind.';

/** Runs a lead with all permissions that starts an agent, whose first turn is `reply`. */
const started = async (
  fields: Partial<AgentDescription>,
  reply: Reply = { text: 'All of it.' },
  tools: readonly Tool[] = [],
) => {
  const task = { description: 'x', prompt: 'Do it.', subagent_type: 'one' };
  const { ask, bodies, workspace } = await program([
    { match: { lastUser: 'Begin.' }, reply: calls('Task', task) },
    { match: { lastUser: 'Do it.' }, reply },
    { reply: 'Over.' },
  ]);
  const agents = { one: { description: 'One', prompt: ROLE, ...fields } };
  const messages = await all(ask('Begin.', { permissionMode: 'bypassPermissions', agents, tools }));
  const [lead = {}, child = {}] = bodies();
  return { lead, child, texts: toolTexts(messages), workspace };
};

test.each<[string, Partial<AgentDescription>, readonly string[]]>([
  ['only read-only tools', {}, ['Ask']],
  ['the listed tools', { tools: 'Ask, Deploy' }, ['Ask', 'Deploy']],
  ['no denied tools', { disallowedTools: 'Ask' }, []],
])('an agent has %s of the host tools', async (_, fields, expected) => {
  const ran: string[] = [];
  const own = (name: string, readOnly: boolean) =>
    customTool({
      name,
      description: name,
      input: z.object({}),
      readOnly,
      run: () => {
        ran.push(name);
        return 'done';
      },
    });
  const uses = { tool_use: ['Ask', 'Deploy'].map((name) => ({ name, input: {} })) };
  await started(fields, uses, [own('Ask', true), own('Deploy', false)]);
  expect(ran).toEqual(expected);
});

const toolNames = ({ tools }: Line): readonly string[] => tools.map(({ name }: Line) => name);

test('an agent runs in the background if its definition requires it', async () => {
  expect((await started({ background: true })).texts[0]).toMatch(/^Started in the background/);
  expect((await started({})).texts[0]).toMatch(/^Agent one a_\w+ "x" completed/);
});

test('an agent uses the model of its definition, else the model of the lead', async () => {
  const own = await started({ model: 'haiku' });
  expect([own.lead.model, own.child.model]).toEqual(['claude-sonnet-5-5', 'claude-haiku-5-5']);
  const shared = await started({});
  expect(shared.child.model).toBe(shared.lead.model);
});

test('an agent uses the mode of its definition', async () => {
  const touches = calls('Bash', { command: 'touch by-shell' });
  const made = async (fields: Partial<AgentDescription>) =>
    existsSync(join((await started({ tools: 'Bash', ...fields }, touches)).workspace, 'by-shell'));
  expect(await made({})).toBe(true);
  expect(await made({ permissionMode: 'plan' })).toBe(false);
  expect(await made({ permissionMode: 'dontAsk' })).toBe(false);
});

test('an agent shares the prompt of the lead, followed by its role', async () => {
  const { lead, child } = await started({ tools: 'Read' });
  expect(child.system).toEqual(lead.system);
  expect(toolNames(child)).toEqual(toolNames(lead));
  expect(JSON.stringify(child.messages)).toContain(ROLE);
});

test('an agent has its own prompt and tools if its definition requires it', async () => {
  const { lead, child } = await started({ tools: 'Read', ownPrompt: true });
  expect(JSON.stringify(child.system)).toContain(ROLE);
  expect(JSON.stringify(lead.system)).not.toContain(ROLE);
  expect(toolNames(child)).toEqual(['Read']);
  expect(JSON.stringify(child.messages)).not.toContain(ROLE);
});

test('the report of an agent names the files that it changed', async () => {
  const writes = calls('Write', { file_path: 'by-write', content: 'x' });
  const { texts, workspace } = await started({ tools: 'Write' }, writes);
  expect(texts.at(-1)).toMatch(/^Agent one a_\w+ "x" completed/);
  expect(texts.at(-1)).toContain(join(workspace, 'by-write'));
  expect((await started({ tools: 'Write' })).texts.at(-1)).not.toContain('hanged');
});
