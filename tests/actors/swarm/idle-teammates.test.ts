/** When a teammate rests and when it only waits; what wakes it, what ends it, and who waits for whom meanwhile. */
import { describe, expect, test } from 'vitest';
import type { ToolContext } from '../../../src/protocol/tools/tool.js';
import { sendMessage } from '../../../src/tools/agents/send-message.js';
import { type Answer, calls, says } from '../../fakes/agents/scripted-model.js';
import { scriptedWorktrees } from '../../fakes/agents/scripted-worktrees.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import type { LeadOptions } from '../session/lead-in-hand.js';
import { allSettled, swarmInHand, type Talk, talkOf, task } from './swarm-in-hand.js';

const EXPLORER = { subagent_type: 'explorer', description: 'x' };

const mate = (name: string, prompt: string, more: object = {}) =>
  calls(`c-${name}`, 'Task', task(prompt, { ...EXPLORER, team_name: 'geese', name, ...more }));

const writes = (id: string, to: string, message: string) =>
  calls(id, 'SendMessage', { to, message });

const team = (answer: (talk: Talk) => Answer | undefined, options: Partial<LeadOptions> = {}) =>
  swarmInHand(answer, { lingers: true, ...options, tools: [sendMessage] });
type Hand = Awaited<ReturnType<typeof team>>;

const isOf = ({ said }: Talk, word: string) => said[0]?.includes(word) === true;
const sentFor = ({ requests }: Hand, word: string) =>
  requests.filter((it) => isOf(talkOf(it), word)).map(({ body }) => body);
const rested = ({ items }: Hand) =>
  items.flatMap((it) => (it.type === 'agent.rested' ? [it.report.agent.name] : []));
const ended = ({ items }: Hand) =>
  items.flatMap((it) => (it.type === 'agent.ended' ? [it.report] : []));
const isOver = ({ lead }: Hand): (() => boolean) => {
  let over = false;
  void lead.stopped.then(() => {
    over = true;
  });
  return () => over;
};

/** A deed that takes until the test lets it end. */
const slowly = () => {
  const waiting: (() => void)[] = [];
  let most = 0;
  return {
    get most() {
      return most;
    },
    slow: () =>
      new Promise<{ content: string }>((resolve) => {
        waiting.push(() => resolve({ content: 'seen' }));
        most = Math.max(most, waiting.length);
      }),
    free: () => {
      for (const go of waiting.splice(0)) go();
    },
  };
};
/** Until it is called off. */
const hang = ({ signal }: ToolContext) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
const WORKERS = { definitions: [agentDefinition({ tools: ['Look', 'Task'] })] };

describe('a print run', () => {
  test('goes on while an agent of a teammate works, and the teammate reads what came of it', async () => {
    const work = slowly();
    const hand = await team(
      (talk) => {
        if (isOf(talk, 'inner work')) {
          return talk.turn === 0 ? [calls('l', 'Look', { name: 'slow' })] : [says('inner done')];
        }
        if (isOf(talk, 'be boss')) {
          const inner = task('inner work', { ...EXPLORER, run_in_background: true });
          if (talk.turn === 0) return [calls('b', 'Task', inner)];
          return [says(talk.last.includes('inner done') ? 'boss has all' : 'boss waits')];
        }
        return talk.turn === 0 ? [mate('boss', 'be boss')] : [says('ok')];
      },
      { lingers: false, deeds: { slow: work.slow }, swarm: WORKERS },
    );
    const over = isOver(hand);
    void hand.say('begin');
    await allSettled(60);
    expect([over(), rested(hand)]).toEqual([false, []]);
    work.free();
    await allSettled(60);
    expect([over(), rested(hand)]).toEqual([true, ['boss']]);
    expect(ended(hand).map(({ stop }) => stop.reason)).toEqual(['end_turn', 'end_turn']);
    expect(hand.requests.at(-1)?.body).toContain('boss has all');
  });

  test('waits for an agent that was let go on below one that has ended', async () => {
    const work = slowly();
    const hand = await team(
      (talk) => {
        if (isOf(talk, 'be the grandchild')) {
          const isMore = talk.last.includes('more');
          return isMore ? [calls('g', 'Look', { name: 'slow' })] : [says('here')];
        }
        if (isOf(talk, 'be the parent')) {
          const inner = task('be the grandchild', { ...EXPLORER, name: 'deep' });
          return talk.turn === 0 ? [calls('b', 'Task', inner)] : [says('parent')];
        }
        if (talk.turn === 0) return [calls('p', 'Task', task('be the parent', EXPLORER))];
        return talk.turn === 1 ? [writes('w1', 'deep', 'more please')] : [says('ok')];
      },
      { lingers: false, deeds: { slow: work.slow }, swarm: WORKERS },
    );
    const over = isOver(hand);
    void hand.say('begin');
    await allSettled(80);
    expect(over()).toBe(false);
    work.free();
    await allSettled(80);
    expect(over()).toBe(true);
    expect(ended(hand).map(({ stop }) => stop.reason)).not.toContain('interrupted');
  });
});

describe('a teammate that rests', () => {
  test('is stopped by a person also in a session that was resumed, and then gets no messages', async () => {
    const answer = (talk: Talk): Answer => {
      if (isOf(talk, 'sleep')) return [says('done')];
      if (talk.last.includes('write')) return [writes('w1', 'ada', 'hello')];
      return talk.turn === 0 ? [mate('ada', 'sleep')] : [says('ok')];
    };
    const first = await team(answer);
    await first.say('begin');
    await allSettled(40);
    await first.lead.close();
    const choice = { kind: 'resume', id: first.lead.id } as const;
    const next = await team(answer, { store: first.store, choice });
    next.lead.start();
    await allSettled(20);
    expect(await next.lead.steer.stop('ada')).toMatchObject({ ok: true });
    await next.say('write');
    await allSettled(40);
    expect(next.results().w1).toContain('a person stopped it');
    expect(sentFor(next, 'sleep')).toEqual([]);
  });

  test('says that it is stopped when a person stops it', async () => {
    const hand = await team((talk) => {
      if (isOf(talk, 'sleep')) return [says('done')];
      return talk.turn === 0 ? [mate('ada', 'sleep')] : [says('ok')];
    });
    await hand.say('begin');
    await allSettled(40);
    const { sentence } = await hand.lead.steer.stop('ada');
    expect(sentence).toContain('is stopped, with all its sub-agents');
  });

  test('waits for a place when it is written to, like any other', async () => {
    const work = slowly();
    const names = ['a', 'b', 'c', 'd', 'e'];
    const hand = await team(
      (talk) => {
        if (isOf(talk, 'be mate')) {
          const isCalled = talk.last.includes('all of you');
          return isCalled ? [calls('l', 'Look', { name: 'slow' })] : [says('rest')];
        }
        if (talk.last.includes('write')) return [writes('w1', '*', 'all of you')];
        return talk.turn === 0 ? names.map((name) => mate(name, `be mate ${name}`)) : [says('ok')];
      },
      {
        deeds: { slow: work.slow },
        swarm: {
          definitions: [agentDefinition()],
          limits: { maxAgents: 200, maxConcurrentAgents: 2, maxDepth: 3 },
        },
      },
    );
    await hand.say('begin');
    await allSettled(80);
    expect(new Set(rested(hand))).toEqual(new Set(names));
    await hand.say('write');
    await allSettled(80);
    expect(work.most).toBe(2);
    for (let round = 0; round < 6; round += 1) {
      work.free();
      await allSettled(20);
    }
    expect(work.most).toBe(2);
    expect(rested(hand)).toHaveLength(2 * names.length);
  });
});

describe('what a definition grants a teammate', () => {
  test('holds for each of its runs, and is not kept from others while it rests', async () => {
    let looks = 0;
    const hand = await team(
      (talk) => {
        if (isOf(talk, 'sleep')) {
          looks += 1;
          return [calls(`l${looks}`, 'Look', { name: `x${looks}` })];
        }
        if (talk.last.includes('write')) return [writes('w1', 'ada', 'once more')];
        return talk.turn === 0 ? [mate('ada', 'sleep')] : [says('ok')];
      },
      {
        maxBudgetTokens: 6_000,
        swarm: { definitions: [agentDefinition({ maxTurns: 2, maxBudgetTokens: 5_000 })] },
      },
    );
    await hand.say('begin');
    await allSettled(40);
    expect(sentFor(hand, 'sleep')).toHaveLength(2);
    await hand.say('write');
    await allSettled(40);
    expect(sentFor(hand, 'sleep')).toHaveLength(4);
    expect(rested(hand)).toEqual(['ada', 'ada']);
  });
});

describe('a teammate that is ended while it works', () => {
  const stopped = async (answers: (talk: Talk) => Answer) => {
    const hand = await team(
      (talk) => {
        if (isOf(talk, 'sleep')) return answers(talk);
        if (talk.last.includes('write')) return [writes('w1', 'ada', 'hello')];
        if (talk.last.includes('end it')) return [calls('t1', 'TaskStop', { task_id: 'ada' })];
        return talk.turn === 0 ? [mate('ada', 'sleep')] : [says('ok')];
      },
      { deeds: { slow: hang } },
    );
    await hand.say('begin');
    await allSettled(40);
    await hand.say('write');
    await allSettled(40);
    await hand.say('end it');
    await allSettled(40);
    return hand;
  };

  test('begins nothing new for a letter that it has not read', async () => {
    const hand = await stopped(({ turn }) =>
      turn === 0 ? [calls('l', 'Look', { name: 'slow' })] : [says('after the stop')],
    );
    expect(sentFor(hand, 'sleep')).toHaveLength(1);
    expect(ended(hand)).toMatchObject([{ stop: { reason: 'interrupted' } }]);
    expect(hand.results().t1).toContain('interrupted');
  });
});

describe('a teammate whose work is merged when it rests', () => {
  test('tells what became of the newest work, also when it was woken meanwhile', async () => {
    const worktrees = scriptedWorktrees();
    const merge = worktrees.settle.bind(worktrees);
    const gates: (() => void)[] = [];
    const becomes = [
      { kind: 'merged', files: ['x'], commit: 'c0' },
      {
        kind: 'conflict',
        files: ['a'],
        commit: 'c1',
        conflicts: [{ path: 'a', why: 'both sides have it' }],
      },
    ] as const;
    let merges = 0;
    worktrees.settle = async (order) => {
      const mine = becomes[merges];
      merges += 1;
      await new Promise<void>((resolve) => gates.push(resolve));
      if (mine !== undefined) Object.assign(worktrees, { becomes: mine });
      return merge(order);
    };
    const hand = await team(
      (talk) => {
        if (isOf(talk, 'sleep')) return [says(talk.turn === 0 ? 'done' : 'done twice')];
        if (talk.last.includes('write')) return [writes('w1', 'ada', 'more')];
        return talk.turn === 0 ? [mate('ada', 'sleep', { isolation: 'worktree' })] : [says('ok')];
      },
      { swarm: { definitions: [agentDefinition()], worktrees } },
    );
    await hand.say('begin');
    await allSettled(40);
    await hand.say('write');
    await allSettled(40);
    for (const gate of [0, 1]) {
      gates[gate]?.();
      await allSettled(40);
    }
    expect(rested(hand)).toEqual(['ada']);
    expect(hand.requests.at(-1)?.body).toContain('both sides have it');
  });
});
