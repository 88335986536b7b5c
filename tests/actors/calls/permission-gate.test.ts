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

type Verdicts = Partial<Record<HookEvent, Partial<HookVerdict> | Promise<Partial<HookVerdict>>>>;

/** Scripted hooks that record their input. */
const scriptedHooks = (verdicts: Verdicts) => {
  const fired: string[] = [];
  const hooks: Hooks = {
    has: (event) => verdicts[event] !== undefined,
    async fire(event, facts, { subject, call }) {
      fired.push(`${event} ${subject} ${call} ${JSON.stringify(facts.tool_input)}`);
      return { ...NO_VERDICT, ...(await verdicts[event]) };
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

/** Runs a call of Change (or `tool`), and returns its outcome. */
const changing = async (verdicts: Verdicts, { tool, isLast, ...options }: Changing = {}) => {
  const { hooks, fired } = scriptedHooks(verdicts);
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
  const endedItem = JSON.stringify(harness.items.find(({ type }) => type === 'tool.ended'));
  return { ...harness, fired, rulings, endedItem };
};

interface ToolOptions extends Partial<Pick<Tool, 'kind'>> {
  readonly reads?: boolean;
  readonly does: (context: ToolContext) => ToolOutcome;
}

/** Additional tool that names a file by a relative path. */
const tool = (name: string, { reads = false, does, kind = 'builtin' }: ToolOptions): Tool =>
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

test('an allowed call does not start if an earlier call changed the working directory', async () => {
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
  const answer = [calls('c1', 'Move', { name: 'a' }), calls('c2', 'Peek', { name: 'b' })];
  const model = scriptedModel(answer.flat(), [says('Done.')]);
  const harness = await leadHarness({ model, mode: 'acceptEdits', tools: [move, peek] });
  await harness.say('Go');
  await settled();
  expect(seen).toEqual([]);
  expect(harness.results().c2).toMatch(/^error: .*denied/);
});

describe('a PreToolUse hook', () => {
  test('allows a call that no rule and no mode allows', async () => {
    const { callLog, rulings, fired } = await changing({
      PreToolUse: { permission: opinion('allow') },
    });
    expect(rulings).toEqual(['allow@hooks']);
    expect(callLog).toEqual(['start a', 'end a']);
    expect(fired).toEqual(['PreToolUse Change c1 {"name":"a"}']);
  });

  test('cannot override a deny rule or an ask rule', async () => {
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

  test('denies a call that the mode allows, and the model gets the reason', async () => {
    const { rulings, callLog, endedItem } = await changing(
      { PreToolUse: { permission: opinion('deny') } },
      { mode: 'bypassPermissions' },
    );
    expect([rulings, callLog]).toEqual([['deny@hooks'], []]);
    expect(endedItem).toContain('Denied by the hook ./check.sh: The hook says so.');
  });

  test('denies a call by blocking it', async () => {
    const block = { reason: 'Not on a Friday.', hook: './friday.sh' };
    const { rulings, endedItem } = await changing({ PreToolUse: { block } });
    expect(rulings).toEqual(['deny@hooks']);
    expect(endedItem).toContain('Denied by the hook ./friday.sh: Not on a Friday.');
  });

  test('asks a person about a call that a rule allows', async () => {
    const rules = [{ behavior: 'allow', text: 'Change', source: 'user' } as const];
    const surface = scriptedSurface(allows);
    const { rulings, callLog } = await changing(
      { PreToolUse: { permission: opinion('ask') } },
      { rules, surface },
    );
    expect(rulings).toEqual(['ask@ask', 'allow@callback by surface-1']);
    expect(callLog).toEqual(['start a', 'end a']);
  });

  test('changes the input, which is judged again without another hook run', async () => {
    const { callLog, fired, rulings } = await changing(
      { PreToolUse: { updatedInput: { name: 'b' }, permission: opinion('allow') } },
      { rules: [{ behavior: 'deny', text: 'Edit(/a)', source: 'user' }] },
    );
    expect([callLog, rulings]).toEqual([['start b', 'end b'], ['allow@hooks']]);
    expect(fired).toHaveLength(1);
  });

  test('cannot change the input to a denied input', async () => {
    const { callLog, rulings } = await changing(
      { PreToolUse: { updatedInput: { name: 'b' }, permission: opinion('allow') } },
      { rules: [{ behavior: 'deny', text: 'Edit(/b)', source: 'user' }] },
    );
    expect([callLog, rulings]).toEqual([[], ['deny@deny']]);
  });

  test('cannot change the input to an invalid input', async () => {
    const { callLog, endedItem } = await changing({ PreToolUse: { updatedInput: { name: 7 } } });
    expect(callLog).toEqual([]);
    expect(endedItem).toContain('not valid');
  });

  test('adds its context to the result for the model', async () => {
    const { endedItem } = await changing(
      { PreToolUse: { context: ['The build is red.'] } },
      { mode: 'bypassPermissions' },
    );
    expect(endedItem).toMatch(/did a.*hook-context.*The build is red\./);
  });

  test('ends the run on request', async () => {
    const { lead, callLog } = await changing(
      { PreToolUse: { halt: 'Enough for today.' } },
      { isLast: true },
    );
    expect(await lead.stopped).toMatchObject({
      stop: { reason: 'denied', detail: 'Enough for today.' },
    });
    expect(callLog).toEqual([]);
  });

  test('does not delay an interrupt', async () => {
    const never = new Promise<Partial<HookVerdict>>(() => {});
    const { lead, callLog } = await changing({ PreToolUse: never }, { isLast: true });
    lead.interrupt();
    expect(await lead.stopped).toMatchObject({ stop: { reason: 'interrupted' } });
    expect(callLog).toEqual([]);
  });

  test('runs before a read-only call starts', async () => {
    const { callLog } = await changing(
      { PreToolUse: { permission: opinion('deny') } },
      { tool: 'Look' },
    );
    expect(callLog).toEqual([]);
  });
});

describe('a PermissionRequest hook', () => {
  test.each([
    ['allow', ['start a', 'end a'], 'allow@callback by hook'],
    ['deny', [], 'deny@callback by hook'],
  ] as const)('answers the question: %s', async (behavior, done, ruling) => {
    const surface = scriptedSurface();
    const answer = behavior === 'allow' ? { behavior } : { behavior, reason: 'No.' };
    const { callLog, rulings } = await changing({ PermissionRequest: { answer } }, { surface });
    expect(callLog).toEqual(done);
    expect(rulings).toEqual(['ask@callback', ruling]);
    expect(surface.questions).toEqual([]);
  });

  test('without a decision leaves the question to a person', async () => {
    const surface = scriptedSurface(allows);
    const { rulings } = await changing({ PermissionRequest: {} }, { surface });
    expect(rulings).toEqual(['ask@callback', 'allow@callback by surface-1']);
  });

  test('can answer for the session if hooks answer in place of a person', async () => {
    const answer = { behavior: 'allow', scope: 'session' } as const;
    const { rulings } = await changing({ PermissionRequest: { answer } }, { answersByHook: true });
    expect(rulings).toEqual(['ask@callback', 'allow@callback by hook']);
  });

  test('without a decision leads to a denial if no surface exists', async () => {
    const { rulings, endedItem } = await changing(
      { PermissionRequest: {} },
      { answersByHook: true },
    );
    expect(rulings).toEqual(['ask@callback', 'deny@callback']);
    expect(endedItem).toContain('no person or program can answer');
  });
});

describe('a question', () => {
  test.each([
    ['with an ask rule', [{ behavior: 'ask', text: 'Change', source: 'user' }], true],
    ['without rules', [], undefined],
  ] as const)('states if it is always asked: %s', async (_, rules, isAlwaysAsked) => {
    const surface = scriptedSurface(denies('No.'));
    await changing({}, { rules, surface });
    expect(surface.questions[0]?.isAlwaysAsked).toBe(isAlwaysAsked);
  });
});

describe('hooks after a call', () => {
  const free = { mode: 'bypassPermissions' } as const;

  test('add context and objections to the result for the model', async () => {
    const { endedItem, fired } = await changing(
      { PostToolUse: { context: ['Formatted.'], block: { reason: 'Too long.', hook: 'x' } } },
      free,
    );
    expect(endedItem).toMatch(/did a.*A hook objects: Too long\..*Formatted\./);
    expect(fired).toEqual(['PostToolUse Change c1 {"name":"a"}']);
  });

  test('are PostToolUseFailure hooks if the call failed', async () => {
    const effects = { a: () => Promise.reject(new Error('No disk.')) };
    const { endedItem, fired } = await changing(
      { PostToolUse: {}, PostToolUseFailure: { context: ['Look at df.'] } },
      { ...free, effects },
    );
    expect(fired).toEqual(['PostToolUseFailure Change c1 {"name":"a"}']);
    expect(endedItem).toMatch(/No disk\..*Look at df\./);
  });

  test('do not run for a denied call', async () => {
    const verdicts = { PreToolUse: {}, PostToolUse: {}, PostToolUseFailure: {} };
    const { callLog, fired } = await changing(verdicts, { mode: 'dontAsk' });
    expect(callLog).toEqual([]);
    expect(fired).toEqual(['PreToolUse Change c1 {"name":"a"}']);
  });

  test('can replace the result of an MCP tool', async () => {
    const push = tool('mcp__git__push', { kind: 'mcp', does: () => ({ content: 'A secret.' }) });
    const { endedItem } = await changing(
      { PostToolUse: { updatedOutput: 'Nothing.' } },
      { ...free, tool: push.name, tools: [push] },
    );
    expect(endedItem).toContain('Nothing.');
    expect(endedItem).not.toContain('A secret.');
  });

  test('cannot replace the result of a builtin tool', async () => {
    const { endedItem } = await changing(
      { PostToolUse: { updatedOutput: 'something else' } },
      free,
    );
    expect(endedItem).toContain('did a');
  });

  test('can end the run, and the result is kept', async () => {
    const { lead, endedItem } = await changing(
      { PostToolUse: { halt: 'That will do.' } },
      { ...free, isLast: true },
    );
    expect(await lead.stopped).toMatchObject({ stop: { detail: 'That will do.' } });
    expect(endedItem).toContain('did a');
  });
});
