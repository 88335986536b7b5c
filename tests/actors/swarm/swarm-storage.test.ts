/** Agents whose journal cannot be written. */
import { expect, test } from 'vitest';
import type { Journal } from '../../../src/protocol/session/journal.js';
import type { OwnedSession } from '../../../src/protocol/session/owned-session.js';
import { StorageError } from '../../../src/protocol/skein-error.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { type Answer, calls, says, waits } from '../../fakes/agents/scripted-model.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import { allSettled, type Conversation, swarmHarness, task } from './swarm-harness.js';

/** Store that cannot write the end of the agent `agent`. */
class FullDisk extends MemorySessionStore {
  agent = '';

  override async open(id: string): Promise<OwnedSession> {
    const session = await super.open(id);
    const journal = session.journal.bind(session);
    session.journal = async (agent, parent) => {
      const opened = await journal(agent, parent);
      return agent === this.agent ? full(opened) : opened;
    };
    return session;
  }
}

const full = ({ append, past, sync, written }: Journal): Journal => ({
  past,
  sync,
  written,
  append(body) {
    if (body.type === 'run.ended') throw new StorageError('The disk is full.');
    return append(body);
  },
});

const EXPLORER = { subagent_type: 'explorer' };
const background = (prompt: string) => task(prompt, { ...EXPLORER, run_in_background: true });

/** The lead waits for `high`, which waits with a running and a queued child. */
const answer = ({ said, last, turn }: Conversation): Answer => {
  if (last.includes('begin')) return [calls('c1', 'Task', task('high', EXPLORER))];
  if (said[0]?.includes('high') && turn === 0) {
    return [
      calls('c2', 'Task', background('busy')),
      calls('c3', 'Task', background('idle')),
      calls('c4', 'Wait', { name: 'long' }),
    ];
  }
  return last.includes('busy') ? [waits(new Promise(() => {})), says('never')] : [says('ok')];
};

test('a queued agent ends with its parent, even if its end cannot be written', async () => {
  const clock = virtualClock();
  const store = new FullDisk(clock);
  store.agent = 'a_4';
  const harness = await swarmHarness(answer, {
    clock,
    store,
    staysIdle: true,
    effects: {
      long: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    },
    swarm: { limits: { maxAgents: 10, maxConcurrentAgents: 2, maxDepth: 3 } },
  });
  await harness.say('begin');
  await allSettled();
  harness.lead.interrupt();
  await allSettled();
  const ended = harness.items.flatMap((it) =>
    it.type === 'agent.ended' ? [it.report.agent.id] : [],
  );
  expect([harness.lead.state, ended.sort()]).toEqual(['idle', ['a_2', 'a_3', 'a_4']]);
});
