/** Limits of a run hold for the whole of it, also when its process died in the middle (law 10). */
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
const BEHIND = { ...EXPLORER, run_in_background: true };

/** A process that begins and dies, and the next one, which goes on with the same run. */
const twice = async (
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

describe('a run that goes on after its process died', () => {
  test('has the turns that it had left', async () => {
    const { after } = await twice(
      [({ turn }) => (turn < 2 ? looks({ turn } as Conversation) : [stuck]), looks],
      { limits: { maxTurns: 5 } },
    );
    expect(after.requests).toHaveLength(2);
    expect(lastStop(after)?.reason).toBe('max_turns');
  });

  test('has the money that it had left, and says what is spent', async () => {
    const paid = ({ turn }: Conversation): Answer => [
      calls(`l${turn}`, 'Look', { name: turn === 2 ? 'stuck' : 'it' }),
      ends('tool_use', { output: 10_000 }),
    ];
    const maxBudgetUsd = 5 * priceOf(10_000);
    const { before, after } = await twice([paid, paid], { maxBudgetUsd });
    expect([before.requests.length, after.requests.length]).toEqual([3, 2]);
    const stop = lastStop(after);
    expect(stop?.reason).toBe('budget');
    expect(stop?.detail).toContain(`$${maxBudgetUsd.toFixed(4)} is spent`);
  });

  test('has the tokens that it had left', async () => {
    const long = ({ turn }: Conversation): Answer => [
      calls(`l${turn}`, 'Look', { name: turn === 2 ? 'stuck' : 'it' }),
      ends('tool_use', { output: 10_000 }),
    ];
    const { before, after } = await twice([long, long], { maxBudgetTokens: 5 * 10_100 + 500 });
    expect([before.requests.length, after.requests.length]).toEqual([3, 2]);
    expect(lastStop(after)).toMatchObject({
      reason: 'budget',
      detail: expect.stringContaining('50,500 tokens is spent'),
    });
  });

  test('has the agents that it had left, those included that have ended', async () => {
    const asks = (name: string): Answer => [
      calls(name, 'Task', task('job', { ...EXPLORER, description: 'x' })),
    ];
    const limits = { maxAgents: 2, maxConcurrentAgents: 5, maxDepth: 3 };
    const first = ({ last, turn }: Conversation): Answer => {
      if (last.includes('job')) return [says('seen')];
      return turn < 2 ? asks(`c${turn}`) : [stuck];
    };
    const next = ({ turn }: Conversation): Answer => (turn > 3 ? [says('done')] : asks(`c${turn}`));
    const { after } = await twice([first, next], { swarm: { limits } });
    expect(after.items.filter(({ type }) => type === 'agent.spawned')).toEqual([]);
    expect(after.results().c3).toContain('This run has started 2 agents');
  });

  test('begins anew when a person says something new', async () => {
    const { after } = await twice(
      [({ turn }) => (turn < 4 ? looks({ turn } as Conversation) : [stuck]), looks],
      { limits: { maxTurns: 5 }, maxBudgetUsd: 1 },
      'something else',
    );
    expect(after.requests).toHaveLength(5);
  });

  test('is the same however often the process dies', async () => {
    const { before, after } = await twice(
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

describe('an agent that goes on after its process died', () => {
  const swarm = { definitions: [agentDefinition({ maxTurns: 3 })] };
  const asTold =
    (terms: Record<string, unknown>, turns: number) => (conversation: Conversation) => {
      if (conversation.last.includes('begin')) return [calls('c1', 'Task', task('job', terms))];
      if (!conversation.said[0]?.includes('job')) return [says('noted')];
      return conversation.turn < turns ? looks(conversation) : [stuck];
    };
  const jobsOf = ({ requests }: SwarmHarness) =>
    requests.filter(({ body }) => body.includes('"l0"') || !body.includes('begin'));

  test.each([
    ['one that is waited for', EXPLORER],
    ['one in the background', BEHIND],
  ])('has the turns that it had left: %s', async (_, terms) => {
    const answers = [asTold(terms, 1), asTold(terms, 99)] as const;
    const { before, after } = await twice(answers, { swarm });
    expect([jobsOf(before).length, jobsOf(after).length]).toEqual([2, 1]);
    const report = after.items.find((it) => it.type === 'agent.ended');
    expect(report).toMatchObject({ report: { stop: { reason: 'max_turns' }, turns: 3 } });
  });

  test('has the money that it had left', async () => {
    const definitions = [agentDefinition({ maxBudgetUsd: 4 * priceOf(10_000) })];
    const paid = (conversation: Conversation): Answer => {
      if (conversation.last.includes('begin')) return [calls('c1', 'Task', task('job', EXPLORER))];
      if (!conversation.said[0]?.includes('job')) return [says('noted')];
      const look = { name: conversation.turn === 2 ? 'stuck' : 'it' };
      return [calls(`l${conversation.turn}`, 'Look', look), ends('tool_use', { output: 10_000 })];
    };
    const { after } = await twice([paid, paid], { swarm: { definitions } });
    const report = after.items.find((it) => it.type === 'agent.ended');
    expect(report).toMatchObject({ report: { stop: { reason: 'budget' }, turns: 4 } });
  });
});
