/** Who waits for whom, what an interrupt ends, and how the ends of background agents are heard of. */
import { describe, expect, test } from 'vitest';
import type { Answer } from '../../fakes/agents/scripted-model.js';
import { calls, gate, says, waits } from '../../fakes/agents/scripted-model.js';
import type { LeadOptions } from '../session/lead-in-hand.js';
import { histories } from './planned-swarm.js';
import { allSettled, type SwarmInHand, swarmInHand, type Talk, task } from './swarm-in-hand.js';

type Options = Partial<Omit<LeadOptions, 'model'>>;

const EXPLORER = { subagent_type: 'explorer' };
const BEHIND = { ...EXPLORER, run_in_background: true };

/** The words of a task are in its prompt alone, so nobody who reads of it takes it for its own. */
const ask = (words: string, terms: Record<string, unknown> = {}) =>
  task(words, { description: words.toUpperCase(), ...terms });

/** Answers by the words that the newest message of a conversation holds, first come first served. */
const swarmOf = async (
  answers: Readonly<Record<string, Answer | ((talk: Talk) => Answer)>>,
  options: Options = {},
): Promise<SwarmInHand> =>
  swarmInHand((talk) => {
    const [, answer = [says('ok')]] =
      Object.entries(answers).find(([words]) => talk.last.includes(words)) ?? [];
    return typeof answer === 'function' ? answer(talk) : answer;
  }, options);

const begin = async (hand: SwarmInHand): Promise<void> => {
  await hand.say('begin');
  await allSettled();
};

/** How those below the lead ended, by their tasks. */
const ends = ({ items }: SwarmInHand): Record<string, string> =>
  Object.fromEntries(
    items.flatMap((it) =>
      it.type === 'agent.ended'
        ? [[it.report.agent.description.toLowerCase(), it.report.stop.reason]]
        : [],
    ),
  );

const runsEnded = ({ items }: SwarmInHand): readonly string[] =>
  items.flatMap((it) => (it.type === 'run.ended' ? [it.stop.reason] : []));

/** Of the lead's conversation: how often it was told that a background agent has ended. */
const told = async ({ records }: SwarmInHand): Promise<number> =>
  (await records()).filter((it) => it.type === 'letter.received' && it.from === 'agent').length;

const openCalls = async (hand: SwarmInHand): Promise<readonly string[]> =>
  [...(await histories(hand)).values()].flatMap(({ calls: all }) =>
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
    const hand = await swarmOf(answers, { lingers: true });
    await begin(hand);
    hand.lead.interrupt();
    await allSettled();
    expect(ends(hand)).toEqual({ look: 'interrupted', fork: 'interrupted' });
    expect([hand.lead.state, runsEnded(hand)]).toEqual(['idle', ['interrupted']]);
    expect(await openCalls(hand)).toEqual([]);
    const known = [...(await histories(hand)).values()].filter(
      ({ relations: family }) => family.origin,
    );
    expect(known.map(({ ended }) => ended?.reason)).toEqual([
      'interrupted',
      'interrupted',
      undefined,
    ]);
    door.open();
    await allSettled();
    expect([ends(hand).behind, await told(hand)]).toEqual(['end_turn', 1]);
    expect(runsEnded(hand)).toEqual(['interrupted', 'end_turn']);
  });

  test('ends all agents of a run that nobody talks to', async () => {
    const { answers } = held();
    const hand = await swarmOf(answers);
    await begin(hand);
    hand.lead.interrupt();
    const { stop } = await hand.lead.stopped;
    await hand.lead.close();
    expect(stop.reason).toBe('interrupted');
    expect(ends(hand)).toEqual({ look: 'interrupted', fork: 'interrupted', behind: 'interrupted' });
    expect(await openCalls(hand)).toEqual([]);
  });
});

describe('a background agent', () => {
  const behind = { begin: [calls('c1', 'Task', ask('behind', BEHIND))] };

  test('keeps a run from ending, and wakes the lead once when it has ended', async () => {
    const door = gate();
    const hand = await swarmOf({ ...behind, behind: [waits(door.opened), says('seen')] });
    await begin(hand);
    expect([hand.lead.state, runsEnded(hand)]).toEqual(['idle', []]);
    door.open();
    await hand.lead.stopped;
    expect([runsEnded(hand), await told(hand)]).toEqual([['end_turn'], 1]);
    expect(
      hand.requests.filter(({ body }) => body.includes('in the background has ended')),
    ).toHaveLength(1);
  });

  test('is waited for by whoever asks for its output, and is told of once', async () => {
    const door = gate();
    const hand = await swarmOf({
      ...behind,
      'Started in the background': ({ last }) => [
        calls('c2', 'TaskOutput', { task_id: /a_\d+/.exec(last)?.[0] }),
      ],
      behind: [waits(door.opened), says('seen')],
    });
    await begin(hand);
    expect(hand.lead.state).toBe('tool-running');
    door.open();
    await hand.lead.stopped;
    expect(hand.results().c2).toContain('seen');
    expect(hand.requests.at(-1)?.body.split('seen')).toHaveLength(2);
    expect([runsEnded(hand), await openCalls(hand)]).toEqual([['end_turn'], []]);
  });

  test('is shown once more to one that has read of its end and asks for it', async () => {
    const done = gate();
    const hand = await swarmOf(
      {
        begin: [calls('c1', 'Task', ask('behind', BEHIND)), calls('c2', 'Wait', { name: 'x' })],
        'did x': ({ last }) => [
          calls('c3', 'TaskOutput', { task_id: /a_\d+/.exec(last)?.[0], block: false }),
        ],
        behind: [says('seen')],
      },
      { deeds: { x: async () => done.opened.then(() => ({ content: 'did x' })) } },
    );
    await begin(hand);
    done.open();
    await hand.lead.stopped;
    const last = hand.requests.at(-1)?.body ?? '';
    expect(last.split('in the background has ended')).toHaveLength(2);
    expect(last.split('seen')).toHaveLength(3);
  });

  test('ends when its parent stops it, and what it said is kept', async () => {
    const door = gate();
    const hand = await swarmOf({
      ...behind,
      'Started in the background': ({ last }) => [
        calls('c2', 'TaskStop', { task_id: /a_\d+/.exec(last)?.[0] }),
      ],
      behind: [says('so far'), waits(door.opened)],
    });
    await begin(hand);
    expect((await hand.lead.stopped).stop.reason).toBe('end_turn');
    expect([ends(hand), hand.results().c2]).toEqual([
      { behind: 'interrupted' },
      expect.stringContaining('stopped'),
    ]);
  });

  test('is not stopped by a name that two of them have, nor by one that nobody has', async () => {
    const named = ask('behind', { ...BEHIND, name: 'scout' });
    const hand = await swarmOf(
      {
        begin: [calls('c1', 'Task', named), calls('c2', 'Task', named)],
        'Started in the background': [
          calls('c3', 'TaskStop', { task_id: 'scout' }),
          calls('c4', 'TaskStop', { task_id: 'scuot' }),
        ],
        behind: [says('so far'), waits(gate().opened)],
      },
      { lingers: true },
    );
    await begin(hand);
    const { c3, c4 } = hand.results();
    expect(c3).toMatch(
      /^error: Several agents match "scout": a_\d+ \(scout\), a_\d+ \(scout\)\. Give one id\.$/,
    );
    expect(c4).toMatch(/"scuot"\. The ids are: a_\d+ \(scout\), a_\d+ \(scout\)\.$/);
    expect(ends(hand)).toEqual({});
    await hand.lead.close();
  });

  test('is halted when the agent that it works for has ended', async () => {
    const [door, never] = [gate(), gate()];
    const stopIt = ({ last }: Talk): Answer => [
      waits(door.opened),
      calls('c2', 'TaskStop', { task_id: /a_\d+/.exec(last)?.[0] }),
    ];
    const hand = await swarmOf({
      begin: [calls('c1', 'Task', ask('middle', BEHIND))],
      'Started in the background': (talk) =>
        talk.said[0]?.includes('begin') ? stopIt(talk) : [says('waiting')],
      middle: [calls('m1', 'Task', ask('behind', BEHIND))],
      behind: [says('so far'), waits(never.opened)],
    });
    await begin(hand);
    expect(ends(hand)).toEqual({});
    door.open();
    expect((await hand.lead.stopped).stop.reason).toBe('end_turn');
    expect(ends(hand)).toEqual({ middle: 'interrupted', behind: 'interrupted' });
    expect(await openCalls(hand)).toEqual([]);
  });

  test('that asks for the next one whenever it reports meets the limit of the run', async () => {
    const again = ({ turn }: Talk): Answer => [calls(`c${turn}`, 'Task', ask('behind', BEHIND))];
    const limits = { maxAgents: 3, maxConcurrentAgents: 5, maxDepth: 1 };
    const hand = await swarmOf(
      { begin: again, 'has ended': again, behind: [says('seen')] },
      { lingers: true, swarm: { limits } },
    );
    await begin(hand);
    await allSettled();
    expect(hand.items.filter(({ type }) => type === 'agent.spawned')).toHaveLength(3);
    await begin(hand);
    await allSettled();
    expect(hand.items.filter(({ type }) => type === 'agent.spawned')).toHaveLength(6);
  });
});
