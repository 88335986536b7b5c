/** When a teammate rests and when it only waits; what wakes it, what ends it, and who waits for whom meanwhile. */
import { describe, expect, test } from 'vitest';
import type { ToolContext } from '../../../src/protocol/tools/tool.js';
import { sendMessage } from '../../../src/tools/agents/send-message.js';
import { type Answer, calls, says } from '../../fakes/agents/scripted-model.js';
import { scriptedWorktrees } from '../../fakes/agents/scripted-worktrees.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import type { LeadOptions } from '../session/lead-harness.js';
import {
  allSettled,
  type Conversation,
  conversationOf,
  swarmHarness,
  task,
} from './swarm-harness.js';

const EXPLORER = { subagent_type: 'explorer', description: 'x' };

const mate = (name: string, prompt: string, more: object = {}) =>
  calls(`c-${name}`, 'Task', task(prompt, { ...EXPLORER, team_name: 'geese', name, ...more }));

const writes = (id: string, to: string, message: string) =>
  calls(id, 'SendMessage', { to, message });

const team = (
  answer: (conversation: Conversation) => Answer | undefined,
  options: Partial<LeadOptions> = {},
) => swarmHarness(answer, { staysIdle: true, ...options, tools: [sendMessage] });
type Hand = Awaited<ReturnType<typeof team>>;

const isOf = ({ said }: Conversation, word: string) => said[0]?.includes(word) === true;
const sentFor = ({ requests }: Hand, word: string) =>
  requests.filter((it) => isOf(conversationOf(it), word)).map(({ body }) => body);
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
    const harness = await team(
      (conversation) => {
        if (isOf(conversation, 'inner work')) {
          return conversation.turn === 0
            ? [calls('l', 'Look', { name: 'slow' })]
            : [says('inner done')];
        }
        if (isOf(conversation, 'be boss')) {
          const inner = task('inner work', { ...EXPLORER, run_in_background: true });
          if (conversation.turn === 0) return [calls('b', 'Task', inner)];
          return [says(conversation.last.includes('inner done') ? 'boss has all' : 'boss waits')];
        }
        return conversation.turn === 0 ? [mate('boss', 'be boss')] : [says('ok')];
      },
      { staysIdle: false, effects: { slow: work.slow }, swarm: WORKERS },
    );
    const over = isOver(harness);
    void harness.say('begin');
    await allSettled(60);
    expect([over(), rested(harness)]).toEqual([false, []]);
    work.free();
    await allSettled(60);
    expect([over(), rested(harness)]).toEqual([true, ['boss']]);
    expect(ended(harness).map(({ stop }) => stop.reason)).toEqual(['end_turn', 'end_turn']);
    expect(harness.requests.at(-1)?.body).toContain('boss has all');
  });

  test('waits for an agent that was let go on below one that has ended', async () => {
    const work = slowly();
    const harness = await team(
      (conversation) => {
        if (isOf(conversation, 'be the grandchild')) {
          const isMore = conversation.last.includes('more');
          return isMore ? [calls('g', 'Look', { name: 'slow' })] : [says('here')];
        }
        if (isOf(conversation, 'be the parent')) {
          const inner = task('be the grandchild', { ...EXPLORER, name: 'deep' });
          return conversation.turn === 0 ? [calls('b', 'Task', inner)] : [says('parent')];
        }
        if (conversation.turn === 0) return [calls('p', 'Task', task('be the parent', EXPLORER))];
        return conversation.turn === 1 ? [writes('w1', 'deep', 'more please')] : [says('ok')];
      },
      { staysIdle: false, effects: { slow: work.slow }, swarm: WORKERS },
    );
    const over = isOver(harness);
    void harness.say('begin');
    await allSettled(80);
    expect(over()).toBe(false);
    work.free();
    await allSettled(80);
    expect(over()).toBe(true);
    expect(ended(harness).map(({ stop }) => stop.reason)).not.toContain('interrupted');
  });
});

describe('a teammate that rests', () => {
  test('is stopped by a person also in a session that was resumed, and then gets no messages', async () => {
    const answer = (conversation: Conversation): Answer => {
      if (isOf(conversation, 'sleep')) return [says('done')];
      if (conversation.last.includes('write')) return [writes('w1', 'ada', 'hello')];
      return conversation.turn === 0 ? [mate('ada', 'sleep')] : [says('ok')];
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
    const harness = await team((conversation) => {
      if (isOf(conversation, 'sleep')) return [says('done')];
      return conversation.turn === 0 ? [mate('ada', 'sleep')] : [says('ok')];
    });
    await harness.say('begin');
    await allSettled(40);
    const { sentence } = await harness.lead.steer.stop('ada');
    expect(sentence).toContain('is stopped, with all its sub-agents');
  });

  test('waits for a place when it is written to, like any other', async () => {
    const work = slowly();
    const names = ['a', 'b', 'c', 'd', 'e'];
    const harness = await team(
      (conversation) => {
        if (isOf(conversation, 'be mate')) {
          const isCalled = conversation.last.includes('all of you');
          return isCalled ? [calls('l', 'Look', { name: 'slow' })] : [says('rest')];
        }
        if (conversation.last.includes('write')) return [writes('w1', '*', 'all of you')];
        return conversation.turn === 0
          ? names.map((name) => mate(name, `be mate ${name}`))
          : [says('ok')];
      },
      {
        effects: { slow: work.slow },
        swarm: {
          definitions: [agentDefinition()],
          limits: { maxAgents: 200, maxConcurrentAgents: 2, maxDepth: 3 },
        },
      },
    );
    await harness.say('begin');
    await allSettled(80);
    expect(new Set(rested(harness))).toEqual(new Set(names));
    await harness.say('write');
    await allSettled(80);
    expect(work.most).toBe(2);
    for (let round = 0; round < 6; round += 1) {
      work.free();
      await allSettled(20);
    }
    expect(work.most).toBe(2);
    expect(rested(harness)).toHaveLength(2 * names.length);
  });
});

describe('what a definition grants a teammate', () => {
  test('holds for each of its runs, and is not kept from others while it rests', async () => {
    let looks = 0;
    const harness = await team(
      (conversation) => {
        if (isOf(conversation, 'sleep')) {
          looks += 1;
          return [calls(`l${looks}`, 'Look', { name: `x${looks}` })];
        }
        if (conversation.last.includes('write')) return [writes('w1', 'ada', 'once more')];
        return conversation.turn === 0 ? [mate('ada', 'sleep')] : [says('ok')];
      },
      {
        maxBudgetTokens: 6_000,
        swarm: { definitions: [agentDefinition({ maxTurns: 2, maxBudgetTokens: 5_000 })] },
      },
    );
    await harness.say('begin');
    await allSettled(40);
    expect(sentFor(harness, 'sleep')).toHaveLength(2);
    await harness.say('write');
    await allSettled(40);
    expect(sentFor(harness, 'sleep')).toHaveLength(4);
    expect(rested(harness)).toEqual(['ada', 'ada']);
  });
});

describe('a teammate that is ended while it works', () => {
  const stopped = async (answers: (conversation: Conversation) => Answer) => {
    const harness = await team(
      (conversation) => {
        if (isOf(conversation, 'sleep')) return answers(conversation);
        if (conversation.last.includes('write')) return [writes('w1', 'ada', 'hello')];
        if (conversation.last.includes('end it'))
          return [calls('t1', 'TaskStop', { task_id: 'ada' })];
        return conversation.turn === 0 ? [mate('ada', 'sleep')] : [says('ok')];
      },
      { effects: { slow: hang } },
    );
    await harness.say('begin');
    await allSettled(40);
    await harness.say('write');
    await allSettled(40);
    await harness.say('end it');
    await allSettled(40);
    return harness;
  };

  test('begins nothing new for a letter that it has not read', async () => {
    const harness = await stopped(({ turn }) =>
      turn === 0 ? [calls('l', 'Look', { name: 'slow' })] : [says('after the stop')],
    );
    expect(sentFor(harness, 'sleep')).toHaveLength(1);
    expect(ended(harness)).toMatchObject([{ stop: { reason: 'interrupted' } }]);
    expect(harness.results().t1).toContain('interrupted');
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
    const harness = await team(
      (conversation) => {
        if (isOf(conversation, 'sleep'))
          return [says(conversation.turn === 0 ? 'done' : 'done twice')];
        if (conversation.last.includes('write')) return [writes('w1', 'ada', 'more')];
        return conversation.turn === 0
          ? [mate('ada', 'sleep', { isolation: 'worktree' })]
          : [says('ok')];
      },
      { swarm: { definitions: [agentDefinition()], worktrees } },
    );
    await harness.say('begin');
    await allSettled(40);
    await harness.say('write');
    await allSettled(40);
    for (const gate of [0, 1]) {
      gates[gate]?.();
      await allSettled(40);
    }
    expect(rested(harness)).toEqual(['ada']);
    expect(harness.requests.at(-1)?.body).toContain('both sides have it');
  });
});
