/** Teammates: becoming idle, waking, stopping, and the runs that wait for them. */
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
type Harness = Awaited<ReturnType<typeof team>>;

const isOf = ({ said }: Conversation, word: string) => said[0]?.includes(word) === true;
const sentFor = ({ requests }: Harness, word: string) =>
  requests.filter((it) => isOf(conversationOf(it), word)).map(({ body }) => body);
const idleNames = ({ items }: Harness) =>
  items.flatMap((it) => (it.type === 'agent.rested' ? [it.report.agent.name] : []));
const ended = ({ items }: Harness) =>
  items.flatMap((it) => (it.type === 'agent.ended' ? [it.report] : []));
const isOver = ({ lead }: Harness): (() => boolean) => {
  let over = false;
  void lead.stopped.then(() => {
    over = true;
  });
  return () => over;
};

/** Tool effect that ends on demand, with the maximum of concurrent calls. */
const heldEffect = () => {
  const waiting: (() => void)[] = [];
  let maxWaiting = 0;
  return {
    get maxWaiting() {
      return maxWaiting;
    },
    slow: () =>
      new Promise<{ content: string }>((resolve) => {
        waiting.push(() => resolve({ content: 'seen' }));
        maxWaiting = Math.max(maxWaiting, waiting.length);
      }),
    release: () => {
      for (const go of waiting.splice(0)) go();
    },
  };
};
/** Rejects on abort. */
const hang = ({ signal }: ToolContext) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
const WORKERS = { definitions: [agentDefinition({ tools: ['Look', 'Task'] })] };

describe('a print run', () => {
  test('waits for a child of a teammate, and the teammate gets the report of the child', async () => {
    const work = heldEffect();
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
    expect([over(), idleNames(harness)]).toEqual([false, []]);
    work.release();
    await allSettled(60);
    expect([over(), idleNames(harness)]).toEqual([true, ['boss']]);
    expect(ended(harness).map(({ stop }) => stop.reason)).toEqual(['end_turn', 'end_turn']);
    expect(harness.requests.at(-1)?.body).toContain('boss has all');
  });

  test('waits for an agent that was resumed after its parent had ended', async () => {
    const work = heldEffect();
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
    work.release();
    await allSettled(80);
    expect(over()).toBe(true);
    expect(ended(harness).map(({ stop }) => stop.reason)).not.toContain('interrupted');
  });
});

describe('an idle teammate', () => {
  test('can be stopped by a person in a resumed session, and then gets no messages', async () => {
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
    expect(next.results().w1).toContain('the user stopped it');
    expect(sentFor(next, 'sleep')).toEqual([]);
  });

  test('is reported as stopped when a person stops it', async () => {
    const harness = await team((conversation) => {
      if (isOf(conversation, 'sleep')) return [says('done')];
      return conversation.turn === 0 ? [mate('ada', 'sleep')] : [says('ok')];
    });
    await harness.say('begin');
    await allSettled(40);
    const { sentence } = await harness.lead.steer.stop('ada');
    expect(sentence).toContain('is stopped, with all its sub-agents');
  });

  test('queues for a slot when it gets a message', async () => {
    const work = heldEffect();
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
    expect(new Set(idleNames(harness))).toEqual(new Set(names));
    await harness.say('write');
    await allSettled(80);
    expect(work.maxWaiting).toBe(2);
    for (let round = 0; round < 6; round += 1) {
      work.release();
      await allSettled(20);
    }
    expect(work.maxWaiting).toBe(2);
    expect(idleNames(harness)).toHaveLength(2 * names.length);
  });
});

describe('the limits of a teammate', () => {
  test('are valid for each run, and its budget is free for others while it is idle', async () => {
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
    expect(idleNames(harness)).toEqual(['ada', 'ada']);
  });
});

describe('a teammate that is stopped while it runs', () => {
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

  test('does not start a new run for an unread letter', async () => {
    const harness = await stopped(({ turn }) =>
      turn === 0 ? [calls('l', 'Look', { name: 'slow' })] : [says('after the stop')],
    );
    expect(sentFor(harness, 'sleep')).toHaveLength(1);
    expect(ended(harness)).toMatchObject([{ stop: { reason: 'interrupted' } }]);
    expect(harness.results().t1).toContain('interrupted');
  });
});

describe('a teammate whose worktree is merged when it becomes idle', () => {
  test('reports the newest merge, even if it was woken during an earlier merge', async () => {
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
    expect(idleNames(harness)).toEqual(['ada']);
    expect(harness.requests.at(-1)?.body).toContain('both sides have it');
  });
});
