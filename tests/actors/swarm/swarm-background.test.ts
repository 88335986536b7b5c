/** Interrupts, stops and reports of background agents. */
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
const BACKGROUND = { ...EXPLORER, run_in_background: true };

/** The task text is in the prompt alone, so that other conversations do not match it. */
const ask = (prompt: string, input: Record<string, unknown> = {}) =>
  task(prompt, { description: prompt.toUpperCase(), ...input });

/** Chooses the first answer whose key is in the newest message of a conversation. */
const swarmOf = async (
  answers: Readonly<Record<string, Answer | ((conversation: Conversation) => Answer)>>,
  options: Options = {},
): Promise<SwarmHarness> =>
  swarmHarness((conversation) => {
    const [, answer = [says('ok')]] =
      Object.entries(answers).find(([text]) => conversation.last.includes(text)) ?? [];
    return typeof answer === 'function' ? answer(conversation) : answer;
  }, options);

const begin = async (harness: SwarmHarness): Promise<void> => {
  await harness.say('begin');
  await allSettled();
};

/** Stop reasons of all ended agents, by task. */
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

/** Number of letters from agents to the lead. */
const agentLetters = async ({ records }: SwarmHarness): Promise<number> =>
  (await records()).filter((it) => it.type === 'letter.received' && it.from === 'agent').length;

const openCalls = async (harness: SwarmHarness): Promise<readonly string[]> =>
  [...(await histories(harness)).values()].flatMap(({ calls: all }) =>
    [...all.values()].filter(({ result }) => result === null).map(({ id }) => id),
  );

describe('an interrupt', () => {
  const held = () => {
    const release = gate();
    const answers = {
      begin: [
        calls('c1', 'Task', ask('look', EXPLORER)),
        calls('c2', 'Task', ask('fork')),
        calls('c3', 'Task', ask('behind', BACKGROUND)),
      ],
      look: [says('so far'), waits(release.opened), says('seen')],
      fork: [says('so far'), waits(release.opened), says('seen')],
      behind: [says('so far'), waits(release.opened), says('seen')],
    };
    return { release, answers };
  };

  test('stops the agents that the lead waits for, journals all results, and keeps background agents', async () => {
    const { release, answers } = held();
    const harness = await swarmOf(answers, { staysIdle: true });
    await begin(harness);
    harness.lead.interrupt();
    await allSettled();
    expect(ends(harness)).toEqual({ look: 'interrupted', fork: 'interrupted' });
    expect([harness.lead.state, runsEnded(harness)]).toEqual(['idle', ['interrupted']]);
    expect(await openCalls(harness)).toEqual([]);
    const children = [...(await histories(harness)).values()].filter(
      ({ relations }) => relations.origin,
    );
    expect(children.map(({ ended }) => ended?.reason)).toEqual([
      'interrupted',
      'interrupted',
      undefined,
    ]);
    release.open();
    await allSettled();
    expect([ends(harness).behind, await agentLetters(harness)]).toEqual(['end_turn', 1]);
    expect(runsEnded(harness)).toEqual(['interrupted', 'end_turn']);
  });

  test('stops all agents of a run that does not stay idle', async () => {
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
  const spawning = { begin: [calls('c1', 'Task', ask('behind', BACKGROUND))] };

  test('keeps the run open, and wakes the lead once when it has ended', async () => {
    const release = gate();
    const harness = await swarmOf({ ...spawning, behind: [waits(release.opened), says('seen')] });
    await begin(harness);
    expect([harness.lead.state, runsEnded(harness)]).toEqual(['idle', []]);
    release.open();
    await harness.lead.stopped;
    expect([runsEnded(harness), await agentLetters(harness)]).toEqual([['end_turn'], 1]);
    expect(
      harness.requests.filter(({ body }) => body.includes('in the background has ended')),
    ).toHaveLength(1);
  });

  test('is awaited by TaskOutput, and reported once', async () => {
    const release = gate();
    const harness = await swarmOf({
      ...spawning,
      'Started in the background': ({ last }) => [
        calls('c2', 'TaskOutput', { task_id: /a_\d+/.exec(last)?.[0] }),
      ],
      behind: [waits(release.opened), says('seen')],
    });
    await begin(harness);
    expect(harness.lead.state).toBe('tool-running');
    release.open();
    await harness.lead.stopped;
    expect(harness.results().c2).toContain('seen');
    expect(harness.requests.at(-1)?.body.split('seen')).toHaveLength(2);
    expect([runsEnded(harness), await openCalls(harness)]).toEqual([['end_turn'], []]);
  });

  test('is reported again by TaskOutput after its letter was read', async () => {
    const done = gate();
    const harness = await swarmOf(
      {
        begin: [calls('c1', 'Task', ask('behind', BACKGROUND)), calls('c2', 'Wait', { name: 'x' })],
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

  test('ends when its parent stops it', async () => {
    const release = gate();
    const harness = await swarmOf({
      ...spawning,
      'Started in the background': ({ last }) => [
        calls('c2', 'TaskStop', { task_id: /a_\d+/.exec(last)?.[0] }),
      ],
      behind: [says('so far'), waits(release.opened)],
    });
    await begin(harness);
    expect((await harness.lead.stopped).stop.reason).toBe('end_turn');
    expect([ends(harness), harness.results().c2]).toEqual([
      { behind: 'interrupted' },
      expect.stringContaining('stopped'),
    ]);
  });

  test('is not stopped by an ambiguous or an unknown name', async () => {
    const named = ask('behind', { ...BACKGROUND, name: 'scout' });
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

  test('is stopped when its parent is stopped', async () => {
    const [release, never] = [gate(), gate()];
    const stopIt = ({ last }: Conversation): Answer => [
      waits(release.opened),
      calls('c2', 'TaskStop', { task_id: /a_\d+/.exec(last)?.[0] }),
    ];
    const harness = await swarmOf({
      begin: [calls('c1', 'Task', ask('middle', BACKGROUND))],
      'Started in the background': (conversation) =>
        conversation.said[0]?.includes('begin') ? stopIt(conversation) : [says('waiting')],
      middle: [calls('m1', 'Task', ask('behind', BACKGROUND))],
      behind: [says('so far'), waits(never.opened)],
    });
    await begin(harness);
    expect(ends(harness)).toEqual({});
    release.open();
    expect((await harness.lead.stopped).stop.reason).toBe('end_turn');
    expect(ends(harness)).toEqual({ middle: 'interrupted', behind: 'interrupted' });
    expect(await openCalls(harness)).toEqual([]);
  });

  test('that is spawned again after every report reaches the agent limit of the run', async () => {
    const again = ({ turn }: Conversation): Answer => [
      calls(`c${turn}`, 'Task', ask('behind', BACKGROUND)),
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
