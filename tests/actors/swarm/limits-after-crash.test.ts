/** Limits of a run that continues in another process (law 10). */
import { describe, expect, test } from 'vitest';
import { type Answer, calls, ends, says, waits } from '../../fakes/agents/scripted-model.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import type { LeadOptions } from '../session/lead-harness.js';
import { MODEL, priceOf } from './planned-swarm.js';
import {
  allSettled,
  type Conversation,
  type SwarmHarness,
  swarmHarness,
  task,
} from './swarm-harness.js';

type Options = Partial<Omit<LeadOptions, 'model'>>;

const never = () => new Promise<never>(() => {});
const stuck = calls('s', 'Look', { name: 'stuck' });
const EXPLORER = { subagent_type: 'explorer' };
const BACKGROUND = { ...EXPLORER, run_in_background: true };

/** Runs a process that dies, and the next process, which continues the run. */
const inTwoProcesses = async (
  answers: readonly [
    (conversation: Conversation) => Answer,
    (conversation: Conversation) => Answer,
  ],
  options: Options = {},
  prompt?: string,
): Promise<{ readonly before: SwarmHarness; readonly after: SwarmHarness }> => {
  const given = { modelName: MODEL, ...options };
  const before = await swarmHarness(answers[0], { ...given, effects: { stuck: never } });
  await before.say('begin');
  await allSettled();
  await before.lead.close();
  const { store, clock } = before;
  const choice = { kind: 'resume', id: before.lead.id } as const;
  const after = await swarmHarness(answers[1], { ...given, store, clock, choice });
  if (prompt === undefined) after.lead.start();
  else await after.say(prompt);
  await allSettled();
  return { before, after };
};

const looks = ({ turn }: Conversation): Answer => [calls(`l${turn}`, 'Look', { name: 'it' })];

const lastStop = ({ items }: SwarmHarness) => {
  const ended = items.findLast((it) => it.type === 'run.ended');
  return ended?.type === 'run.ended' ? ended.stop : undefined;
};

describe('a run that continues after its process died', () => {
  test('has only its remaining turns', async () => {
    const { after } = await inTwoProcesses(
      [({ turn }) => (turn < 2 ? looks({ turn } as Conversation) : [stuck]), looks],
      { limits: { maxTurns: 5 } },
    );
    expect(after.requests).toHaveLength(2);
    expect(lastStop(after)?.reason).toBe('max_turns');
  });

  test('has only its remaining money, and reports the budget as spent', async () => {
    const paid = ({ turn }: Conversation): Answer => [
      calls(`l${turn}`, 'Look', { name: turn === 2 ? 'stuck' : 'it' }),
      ends('tool_use', { output: 10_000 }),
    ];
    const maxBudgetUsd = 5 * priceOf(10_000);
    const { before, after } = await inTwoProcesses([paid, paid], { maxBudgetUsd });
    expect([before.requests.length, after.requests.length]).toEqual([3, 2]);
    const stop = lastStop(after);
    expect(stop?.reason).toBe('budget');
    expect(stop?.detail).toContain(`$${maxBudgetUsd.toFixed(4)} is spent`);
  });

  test('has only its remaining tokens', async () => {
    const long = ({ turn }: Conversation): Answer => [
      calls(`l${turn}`, 'Look', { name: turn === 2 ? 'stuck' : 'it' }),
      ends('tool_use', { output: 10_000 }),
    ];
    const { before, after } = await inTwoProcesses([long, long], {
      maxBudgetTokens: 5 * 10_100 + 500,
    });
    expect([before.requests.length, after.requests.length]).toEqual([3, 2]);
    expect(lastStop(after)).toMatchObject({
      reason: 'budget',
      detail: expect.stringContaining('50,500 tokens is spent'),
    });
  });

  test('has only its remaining spawns, ended agents included', async () => {
    const asks = (name: string): Answer => [
      calls(name, 'Task', task('job', { ...EXPLORER, description: 'x' })),
    ];
    const limits = { maxAgents: 2, maxConcurrentAgents: 5, maxDepth: 3 };
    const first = ({ last, turn }: Conversation): Answer => {
      if (last.includes('job')) return [says('seen')];
      return turn < 2 ? asks(`c${turn}`) : [stuck];
    };
    const next = ({ turn }: Conversation): Answer => (turn > 3 ? [says('done')] : asks(`c${turn}`));
    const { after } = await inTwoProcesses([first, next], { swarm: { limits } });
    expect(after.items.filter(({ type }) => type === 'agent.spawned')).toEqual([]);
    expect(after.results().c3).toContain('This run has started 2 agents');
  });

  test('is replaced by a new run with full limits on a new prompt', async () => {
    const { after } = await inTwoProcesses(
      [({ turn }) => (turn < 4 ? looks({ turn } as Conversation) : [stuck]), looks],
      { limits: { maxTurns: 5 }, maxBudgetUsd: 1 },
      'something else',
    );
    expect(after.requests).toHaveLength(5);
  });

  test('has the same limits after several process deaths', async () => {
    const { before, after } = await inTwoProcesses(
      [
        ({ turn }) => (turn < 1 ? looks({ turn } as Conversation) : [stuck]),
        ({ turn }) => (turn < 3 ? looks({ turn } as Conversation) : [says('half'), waits(never())]),
      ],
      { limits: { maxTurns: 4 } },
    );
    await after.lead.close();
    const { store, clock } = before;
    const choice = { kind: 'resume', id: before.lead.id } as const;
    const last = await swarmHarness(looks, { store, clock, choice, limits: { maxTurns: 4 } });
    last.lead.start();
    await allSettled();
    expect(last.requests).toHaveLength(1);
  });
});

describe('an agent that continues after its process died', () => {
  const swarm = { definitions: [agentDefinition({ maxTurns: 3 })] };
  const answersFor =
    (input: Record<string, unknown>, turns: number) => (conversation: Conversation) => {
      if (conversation.last.includes('begin')) return [calls('c1', 'Task', task('job', input))];
      if (!conversation.said[0]?.includes('job')) return [says('noted')];
      return conversation.turn < turns ? looks(conversation) : [stuck];
    };
  const jobsOf = ({ requests }: SwarmHarness) =>
    requests.filter(({ body }) => body.includes('"l0"') || !body.includes('begin'));

  test.each([
    ['synchronous', EXPLORER],
    ['background', BACKGROUND],
  ])('has only its remaining turns: %s', async (_, input) => {
    const answers = [answersFor(input, 1), answersFor(input, 99)] as const;
    const { before, after } = await inTwoProcesses(answers, { swarm });
    expect([jobsOf(before).length, jobsOf(after).length]).toEqual([2, 1]);
    const report = after.items.find((it) => it.type === 'agent.ended');
    expect(report).toMatchObject({ report: { stop: { reason: 'max_turns' }, turns: 3 } });
  });

  test('has only its remaining money', async () => {
    const definitions = [agentDefinition({ maxBudgetUsd: 4 * priceOf(10_000) })];
    const paid = (conversation: Conversation): Answer => {
      if (conversation.last.includes('begin')) return [calls('c1', 'Task', task('job', EXPLORER))];
      if (!conversation.said[0]?.includes('job')) return [says('noted')];
      const look = { name: conversation.turn === 2 ? 'stuck' : 'it' };
      return [calls(`l${conversation.turn}`, 'Look', look), ends('tool_use', { output: 10_000 })];
    };
    const { after } = await inTwoProcesses([paid, paid], { swarm: { definitions } });
    const report = after.items.find((it) => it.type === 'agent.ended');
    expect(report).toMatchObject({ report: { stop: { reason: 'budget' }, turns: 4 } });
  });
});
