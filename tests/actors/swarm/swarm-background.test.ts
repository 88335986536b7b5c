/** Who waits for whom, what an interrupt ends, and how the ends of background agents are heard of. */
import { describe, expect, test } from 'vitest';
import type { Answer } from '../../fakes/agents/scripted-model.js';
import { calls, gate, says, waits } from '../../fakes/agents/scripted-model.js';
import type { LeadOptions } from '../session/lead-harness.js';
import { histories } from './planned-swarm.js';
import {
  allSettled,
  type Conversation,
  type SwarmHarness,
  swarmHarness,
  task,
} from './swarm-harness.js';

type Options = Partial<Omit<LeadOptions, 'model'>>;

const EXPLORER = { subagent_type: 'explorer' };
const BEHIND = { ...EXPLORER, run_in_background: true };

/** The words of a task are in its prompt alone, so nobody who reads of it takes it for its own. */
const ask = (words: string, terms: Record<string, unknown> = {}) =>
  task(words, { description: words.toUpperCase(), ...terms });

/** Answers by the words that the newest message of a conversation holds, first come first served. */
const swarmOf = async (
  answers: Readonly<Record<string, Answer | ((conversation: Conversation) => Answer)>>,
  options: Options = {},
): Promise<SwarmHarness> =>
  swarmHarness((conversation) => {
    const [, answer = [says('ok')]] =
      Object.entries(answers).find(([words]) => conversation.last.includes(words)) ?? [];
    return typeof answer === 'function' ? answer(conversation) : answer;
  }, options);

const begin = async (harness: SwarmHarness): Promise<void> => {
  await harness.say('begin');
  await allSettled();
};

/** How those below the lead ended, by their tasks. */
const ends = ({ items }: SwarmHarness): Record<string, string> =>
  Object.fromEntries(
    items.flatMap((it) =>
      it.type === 'agent.ended'
        ? [[it.report.agent.description.toLowerCase(), it.report.stop.reason]]
        : [],
    ),
  );

const runsEnded = ({ items }: SwarmHarness): readonly string[] =>
  items.flatMap((it) => (it.type === 'run.ended' ? [it.stop.reason] : []));

/** Of the lead's conversation: how often it was told that a background agent has ended. */
const told = async ({ records }: SwarmHarness): Promise<number> =>
  (await records()).filter((it) => it.type === 'letter.received' && it.from === 'agent').length;

const openCalls = async (harness: SwarmHarness): Promise<readonly string[]> =>
  [...(await histories(harness)).values()].flatMap(({ calls: all }) =>
    [...all.values()].filter(({ result }) => result === null).map(({ id }) => id),
  );

describe('an interrupt', () => {
  const held = () => {
    const door = gate();
    const answers = {
      begin: [
        calls('c1', 'Task', ask('look', EXPLORER)),
        calls('c2', 'Task', ask('fork')),
        calls('c3', 'Task', ask('behind', BEHIND)),
      ],
      look: [says('so far'), waits(door.opened), says('seen')],
      fork: [says('so far'), waits(door.opened), says('seen')],
      behind: [says('so far'), waits(door.opened), says('seen')],
    };
    return { door, answers };
  };

  test('ends those that the lead waits for, with all of it on record, and leaves the others', async () => {
    const { door, answers } = held();
    const harness = await swarmOf(answers, { staysIdle: true });
    await begin(harness);
    harness.lead.interrupt();
    await allSettled();
    expect(ends(harness)).toEqual({ look: 'interrupted', fork: 'interrupted' });
    expect([harness.lead.state, runsEnded(harness)]).toEqual(['idle', ['interrupted']]);
    expect(await openCalls(harness)).toEqual([]);
    const known = [...(await histories(harness)).values()].filter(
      ({ relations: family }) => family.origin,
    );
    expect(known.map(({ ended }) => ended?.reason)).toEqual([
      'interrupted',
      'interrupted',
      undefined,
    ]);
    door.open();
    await allSettled();
    expect([ends(harness).behind, await told(harness)]).toEqual(['end_turn', 1]);
    expect(runsEnded(harness)).toEqual(['interrupted', 'end_turn']);
  });

  test('ends all agents of a run that nobody talks to', async () => {
    const { answers } = held();
    const harness = await swarmOf(answers);
    await begin(harness);
    harness.lead.interrupt();
    const { stop } = await harness.lead.stopped;
    await harness.lead.close();
    expect(stop.reason).toBe('interrupted');
    expect(ends(harness)).toEqual({
      look: 'interrupted',
      fork: 'interrupted',
      behind: 'interrupted',
    });
    expect(await openCalls(harness)).toEqual([]);
  });
});

describe('a background agent', () => {
  const behind = { begin: [calls('c1', 'Task', ask('behind', BEHIND))] };

  test('keeps a run from ending, and wakes the lead once when it has ended', async () => {
    const door = gate();
    const harness = await swarmOf({ ...behind, behind: [waits(door.opened), says('seen')] });
    await begin(harness);
    expect([harness.lead.state, runsEnded(harness)]).toEqual(['idle', []]);
    door.open();
    await harness.lead.stopped;
    expect([runsEnded(harness), await told(harness)]).toEqual([['end_turn'], 1]);
    expect(
      harness.requests.filter(({ body }) => body.includes('in the background has ended')),
    ).toHaveLength(1);
  });

  test('is waited for by whoever asks for its output, and is told of once', async () => {
    const door = gate();
    const harness = await swarmOf({
      ...behind,
      'Started in the background': ({ last }) => [
        calls('c2', 'TaskOutput', { task_id: /a_\d+/.exec(last)?.[0] }),
      ],
      behind: [waits(door.opened), says('seen')],
    });
    await begin(harness);
    expect(harness.lead.state).toBe('tool-running');
    door.open();
    await harness.lead.stopped;
    expect(harness.results().c2).toContain('seen');
    expect(harness.requests.at(-1)?.body.split('seen')).toHaveLength(2);
    expect([runsEnded(harness), await openCalls(harness)]).toEqual([['end_turn'], []]);
  });

  test('is shown once more to one that has read of its end and asks for it', async () => {
    const done = gate();
    const harness = await swarmOf(
      {
        begin: [calls('c1', 'Task', ask('behind', BEHIND)), calls('c2', 'Wait', { name: 'x' })],
        'did x': ({ last }) => [
          calls('c3', 'TaskOutput', { task_id: /a_\d+/.exec(last)?.[0], block: false }),
        ],
        behind: [says('seen')],
      },
      { effects: { x: async () => done.opened.then(() => ({ content: 'did x' })) } },
    );
    await begin(harness);
    done.open();
    await harness.lead.stopped;
    const last = harness.requests.at(-1)?.body ?? '';
    expect(last.split('in the background has ended')).toHaveLength(2);
    expect(last.split('seen')).toHaveLength(3);
  });

  test('ends when its parent stops it, and what it said is kept', async () => {
    const door = gate();
    const harness = await swarmOf({
      ...behind,
      'Started in the background': ({ last }) => [
        calls('c2', 'TaskStop', { task_id: /a_\d+/.exec(last)?.[0] }),
      ],
      behind: [says('so far'), waits(door.opened)],
    });
    await begin(harness);
    expect((await harness.lead.stopped).stop.reason).toBe('end_turn');
    expect([ends(harness), harness.results().c2]).toEqual([
      { behind: 'interrupted' },
      expect.stringContaining('stopped'),
    ]);
  });

  test('is not stopped by a name that two of them have, nor by one that nobody has', async () => {
    const named = ask('behind', { ...BEHIND, name: 'scout' });
    const harness = await swarmOf(
      {
        begin: [calls('c1', 'Task', named), calls('c2', 'Task', named)],
        'Started in the background': [
          calls('c3', 'TaskStop', { task_id: 'scout' }),
          calls('c4', 'TaskStop', { task_id: 'scuot' }),
        ],
        behind: [says('so far'), waits(gate().opened)],
      },
      { staysIdle: true },
    );
    await begin(harness);
    const { c3, c4 } = harness.results();
    expect(c3).toMatch(
      /^error: Several agents match "scout": a_\d+ \(scout\), a_\d+ \(scout\)\. Give one id\.$/,
    );
    expect(c4).toMatch(/"scuot"\. The ids are: a_\d+ \(scout\), a_\d+ \(scout\)\.$/);
    expect(ends(harness)).toEqual({});
    await harness.lead.close();
  });

  test('is halted when the agent that it works for has ended', async () => {
    const [door, never] = [gate(), gate()];
    const stopIt = ({ last }: Conversation): Answer => [
      waits(door.opened),
      calls('c2', 'TaskStop', { task_id: /a_\d+/.exec(last)?.[0] }),
    ];
    const harness = await swarmOf({
      begin: [calls('c1', 'Task', ask('middle', BEHIND))],
      'Started in the background': (conversation) =>
        conversation.said[0]?.includes('begin') ? stopIt(conversation) : [says('waiting')],
      middle: [calls('m1', 'Task', ask('behind', BEHIND))],
      behind: [says('so far'), waits(never.opened)],
    });
    await begin(harness);
    expect(ends(harness)).toEqual({});
    door.open();
    expect((await harness.lead.stopped).stop.reason).toBe('end_turn');
    expect(ends(harness)).toEqual({ middle: 'interrupted', behind: 'interrupted' });
    expect(await openCalls(harness)).toEqual([]);
  });

  test('that asks for the next one whenever it reports meets the limit of the run', async () => {
    const again = ({ turn }: Conversation): Answer => [
      calls(`c${turn}`, 'Task', ask('behind', BEHIND)),
    ];
    const limits = { maxAgents: 3, maxConcurrentAgents: 5, maxDepth: 1 };
    const harness = await swarmOf(
      { begin: again, 'has ended': again, behind: [says('seen')] },
      { staysIdle: true, swarm: { limits } },
    );
    await begin(harness);
    await allSettled();
    expect(harness.items.filter(({ type }) => type === 'agent.spawned')).toHaveLength(3);
    await begin(harness);
    await allSettled();
    expect(harness.items.filter(({ type }) => type === 'agent.spawned')).toHaveLength(6);
  });
});
