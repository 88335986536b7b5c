import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type HookEvent,
  type Hooks,
  type HookVerdict,
  NO_VERDICT,
} from '../../../src/protocol/permission/hooks.js';
import type { HookOpinion } from '../../../src/protocol/permission/ruling.js';
import {
  defineTool,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from '../../../src/protocol/tools/tool.js';
import { calls, says, scriptedModel } from '../../fakes/agents/scripted-model.js';
import { allows, denies, scriptedSurface } from '../../fakes/agents/scripted-surface.js';
import { settled } from '../../fakes/virtual-clock.js';
import { type LeadOptions, leadHarness } from '../session/lead-harness.js';

type Words = Partial<Record<HookEvent, Partial<HookVerdict> | Promise<Partial<HookVerdict>>>>;

/** Scripted hooks that record their input. */
const hooksThatSay = (words: Words) => {
  const fired: string[] = [];
  const hooks: Hooks = {
    has: (event) => words[event] !== undefined,
    async fire(event, facts, { subject, call }) {
      fired.push(`${event} ${subject} ${call} ${JSON.stringify(facts.tool_input)}`);
      return { ...NO_VERDICT, ...(await words[event]) };
    },
  };
  return { hooks, fired };
};

const opinion = (behavior: HookOpinion['behavior']): HookOpinion => ({
  behavior,
  reason: 'The hook says so.',
  hook: './check.sh',
});

interface Changing extends Partial<LeadOptions> {
  readonly tool?: string;
  /** The run ends with the call, so the model sends no further answer. */
  readonly isLast?: boolean;
}

/** One call of Change, and its outcome. */
const changing = async (words: Words, { tool, isLast, ...options }: Changing = {}) => {
  const { hooks, fired } = hooksThatSay(words);
  const rest = isLast === true ? [] : [[says('Done.')]];
  const model = scriptedModel([calls('c1', tool ?? 'Change', { name: 'a' })], ...rest);
  const harness = await leadHarness({ model, mode: 'default', hooks, ...options });
  await harness.say('Go');
  await settled();
  const rulings = (await harness.records()).flatMap((record) =>
    record.type === 'call.ruled'
      ? [`${record.behavior}@${record.step}${record.by === undefined ? '' : ` by ${record.by}`}`]
      : [],
  );
  const said = JSON.stringify(harness.items.find(({ type }) => type === 'tool.ended'));
  return { ...harness, fired, rulings, said };
};

interface Told extends Partial<Pick<Tool, 'kind'>> {
  readonly reads?: boolean;
  readonly does: (context: ToolContext) => ToolOutcome;
}

/** Additional tool that names a file by a relative path. */
const tool = (name: string, { reads = false, does, kind = 'builtin' }: Told): Tool =>
  defineTool({
    name,
    kind,
    prompt: name,
    interruptBehavior: 'cancel',
    input: z.object({ name: z.string() }),
    describe: () => name,
    isReadOnly: () => reads,
    isConcurrencySafe: () => false,
    subject: (input) => ({ action: reads ? 'read' : 'write', target: input.name }),
    call: async (_, context) => does(context),
  }) as Tool;

test('a call that was allowed does not start where an earlier one has led it elsewhere', async () => {
  const seen: string[] = [];
  const move = tool('Move', {
    does: () => ({ content: 'moved', notes: [{ type: 'cwd.changed', cwd: '/etc' }] }),
  });
  const peek = tool('Peek', {
    reads: true,
    does: ({ cwd }) => {
      seen.push(cwd);
      return { content: 'seen' };
    },
  });
  const wanted = [calls('c1', 'Move', { name: 'a' }), calls('c2', 'Peek', { name: 'b' })];
  const model = scriptedModel(wanted.flat(), [says('Done.')]);
  const harness = await leadHarness({ model, mode: 'acceptEdits', tools: [move, peek] });
  await harness.say('Go');
  await settled();
  expect(seen).toEqual([]);
  expect(harness.results().c2).toMatch(/^error: .*denied/);
});

describe('what a PreToolUse hook says', () => {
  test('lets a call pass that no rule and no mode allows', async () => {
    const { callLog, rulings, fired } = await changing({
      PreToolUse: { permission: opinion('allow') },
    });
    expect(rulings).toEqual(['allow@hooks']);
    expect(callLog).toEqual(['start a', 'end a']);
    expect(fired).toEqual(['PreToolUse Change c1 {"name":"a"}']);
  });

  test('never gets past a deny or an ask', async () => {
    const allow = { PreToolUse: { permission: opinion('allow') } };
    const rules = (behavior: 'deny' | 'ask') => [
      { behavior, text: 'Change', source: 'user' } as const,
    ];
    const denied = await changing(allow, { rules: rules('deny') });
    expect([denied.rulings, denied.callLog]).toEqual([['deny@deny'], []]);
    const surface = scriptedSurface(denies('No.'));
    const asked = await changing(allow, { rules: rules('ask'), surface });
    expect(asked.rulings).toEqual(['ask@ask', 'deny@callback by surface-1']);
    expect(asked.callLog).toEqual([]);
  });

  test('refuses what the mode would let pass, and the model reads why', async () => {
    const { rulings, callLog, said } = await changing(
      { PreToolUse: { permission: opinion('deny') } },
      { mode: 'bypassPermissions' },
    );
    expect([rulings, callLog]).toEqual([['deny@hooks'], []]);
    expect(said).toContain('Denied by the hook ./check.sh: The hook says so.');
  });

  test('blocks as a deny does', async () => {
    const block = { reason: 'Not on a Friday.', hook: './friday.sh' };
    const { rulings, said } = await changing({ PreToolUse: { block } });
    expect(rulings).toEqual(['deny@hooks']);
    expect(said).toContain('Denied by the hook ./friday.sh: Not on a Friday.');
  });

  test('puts to a person what a rule allows', async () => {
    const rules = [{ behavior: 'allow', text: 'Change', source: 'user' } as const];
    const surface = scriptedSurface(allows);
    const { rulings, callLog } = await changing(
      { PreToolUse: { permission: opinion('ask') } },
      { rules, surface },
    );
    expect(rulings).toEqual(['ask@ask', 'allow@callback by surface-1']);
    expect(callLog).toEqual(['start a', 'end a']);
  });

  test('changes the input, which is judged anew and goes to no hook again', async () => {
    const { callLog, fired, rulings } = await changing(
      { PreToolUse: { updatedInput: { name: 'b' }, permission: opinion('allow') } },
      { rules: [{ behavior: 'deny', text: 'Edit(/a)', source: 'user' }] },
    );
    expect([callLog, rulings]).toEqual([['start b', 'end b'], ['allow@hooks']]);
    expect(fired).toHaveLength(1);
  });

  test('cannot change the input to what a rule denies', async () => {
    const { callLog, rulings } = await changing(
      { PreToolUse: { updatedInput: { name: 'b' }, permission: opinion('allow') } },
      { rules: [{ behavior: 'deny', text: 'Edit(/b)', source: 'user' }] },
    );
    expect([callLog, rulings]).toEqual([[], ['deny@deny']]);
  });

  test('cannot change the input to something that is none', async () => {
    const { callLog, said } = await changing({ PreToolUse: { updatedInput: { name: 7 } } });
    expect(callLog).toEqual([]);
    expect(said).toContain('not valid');
  });

  test('reaches the model with the result', async () => {
    const { said } = await changing(
      { PreToolUse: { context: ['The build is red.'] } },
      { mode: 'bypassPermissions' },
    );
    expect(said).toMatch(/did a.*hook-context.*The build is red\./);
  });

  test('ends the run where it says so', async () => {
    const { lead, callLog } = await changing(
      { PreToolUse: { halt: 'Enough for today.' } },
      { isLast: true },
    );
    expect(await lead.stopped).toMatchObject({
      stop: { reason: 'denied', detail: 'Enough for today.' },
    });
    expect(callLog).toEqual([]);
  });

  test('is not waited for when the call is interrupted', async () => {
    const never = new Promise<Partial<HookVerdict>>(() => {});
    const { lead, callLog } = await changing({ PreToolUse: never }, { isLast: true });
    lead.interrupt();
    expect(await lead.stopped).toMatchObject({ stop: { reason: 'interrupted' } });
    expect(callLog).toEqual([]);
  });

  test('is heard for an early call too, before it starts', async () => {
    const { callLog } = await changing(
      { PreToolUse: { permission: opinion('deny') } },
      { tool: 'Look' },
    );
    expect(callLog).toEqual([]);
  });
});

describe('what a PermissionRequest hook says', () => {
  test.each([
    ['allow', ['start a', 'end a'], 'allow@callback by hook'],
    ['deny', [], 'deny@callback by hook'],
  ] as const)('is an answer: %s', async (behavior, done, ruling) => {
    const surface = scriptedSurface();
    const answer = behavior === 'allow' ? { behavior } : { behavior, reason: 'No.' };
    const { callLog, rulings } = await changing({ PermissionRequest: { answer } }, { surface });
    expect(callLog).toEqual(done);
    expect(rulings).toEqual(['ask@callback', ruling]);
    expect(surface.questions).toEqual([]);
  });

  test('leaves the question to a person when it decides nothing', async () => {
    const surface = scriptedSurface(allows);
    const { rulings } = await changing({ PermissionRequest: {} }, { surface });
    expect(rulings).toEqual(['ask@callback', 'allow@callback by surface-1']);
  });

  test('is nobody for what only a person may allow again', async () => {
    const answer = { behavior: 'allow', scope: 'session' } as const;
    const { rulings } = await changing({ PermissionRequest: { answer } }, { answersByHook: true });
    expect(rulings).toEqual(['ask@callback', 'allow@callback by hook']);
  });

  test('denies when it decides nothing and nobody else is there', async () => {
    const { rulings, said } = await changing({ PermissionRequest: {} }, { answersByHook: true });
    expect(rulings).toEqual(['ask@callback', 'deny@callback']);
    expect(said).toContain('nobody can answer');
  });
});

describe('a question', () => {
  test.each([
    ['says so', [{ behavior: 'ask', text: 'Change', source: 'user' }], true],
    ['does not say so', [], undefined],
  ] as const)('that no rule would answer: %s', async (_, rules, isAlwaysAsked) => {
    const surface = scriptedSurface(denies('No.'));
    await changing({}, { rules, surface });
    expect(surface.questions[0]?.isAlwaysAsked).toBe(isAlwaysAsked);
  });
});

describe('hooks after a call', () => {
  const free = { mode: 'bypassPermissions' } as const;

  test('add to what the model reads', async () => {
    const { said, fired } = await changing(
      { PostToolUse: { context: ['Formatted.'], block: { reason: 'Too long.', hook: 'x' } } },
      free,
    );
    expect(said).toMatch(/did a.*A hook objects: Too long\..*Formatted\./);
    expect(fired).toEqual(['PostToolUse Change c1 {"name":"a"}']);
  });

  test('of a failed one are those for failures', async () => {
    const effects = { a: () => Promise.reject(new Error('No disk.')) };
    const { said, fired } = await changing(
      { PostToolUse: {}, PostToolUseFailure: { context: ['Look at df.'] } },
      { ...free, effects },
    );
    expect(fired).toEqual(['PostToolUseFailure Change c1 {"name":"a"}']);
    expect(said).toMatch(/No disk\..*Look at df\./);
  });

  test('of a denied one do not run: it has not happened', async () => {
    const words = { PreToolUse: {}, PostToolUse: {}, PostToolUseFailure: {} };
    const { callLog, fired } = await changing(words, { mode: 'dontAsk' });
    expect(callLog).toEqual([]);
    expect(fired).toEqual(['PreToolUse Change c1 {"name":"a"}']);
  });

  test('replace what a tool of a server returned', async () => {
    const push = tool('mcp__git__push', { kind: 'mcp', does: () => ({ content: 'A secret.' }) });
    const { said } = await changing(
      { PostToolUse: { updatedOutput: 'Nothing.' } },
      { ...free, tool: push.name, tools: [push] },
    );
    expect(said).toContain('Nothing.');
    expect(said).not.toContain('A secret.');
  });

  test('cannot replace what a tool of our own returned', async () => {
    const { said } = await changing({ PostToolUse: { updatedOutput: 'something else' } }, free);
    expect(said).toContain('did a');
  });

  test('end the run where they say so, after the result is kept', async () => {
    const { lead, said } = await changing(
      { PostToolUse: { halt: 'That will do.' } },
      { ...free, isLast: true },
    );
    expect(await lead.stopped).toMatchObject({ stop: { detail: 'That will do.' } });
    expect(said).toContain('did a');
  });
});
