/** What a lead is told of background agents that a process left behind and that cannot go on. */
import { describe, expect, test } from 'vitest';
import type { OwnedSession } from '../../../src/protocol/session/owned-session.js';
import { StorageError } from '../../../src/protocol/skein-error.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { type Answer, calls, says, waits } from '../../fakes/agents/scripted-model.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import type { LeadOptions } from '../session/lead-harness.js';
import {
  allSettled,
  type Conversation,
  type SwarmHarness,
  swarmHarness,
  task,
} from './swarm-harness.js';

/** Sessions whose next owner finds the journals of some agents spoilt. */
class SpoiltDisk extends MemorySessionStore {
  unreadable = '';
  unwritable = '';
  /** Its task is not on record any more. */
  damaged = '';

  override async open(id: string): Promise<OwnedSession> {
    const session = await super.open(id);
    const journal = session.journal.bind(session);
    session.journal = async (agent, parent) => {
      if (agent === this.unreadable) throw new StorageError('The disk is broken.');
      const opened = await journal(agent, parent);
      if (agent === this.unwritable) {
        opened.append = () => {
          throw new StorageError('The disk is full.');
        };
      }
      if (agent !== this.damaged) return opened;
      const { records, ...past } = opened.past;
      const left = records.filter(({ type }) => type !== 'letter.received');
      return { ...opened, past: { ...past, records: left } };
    };
    return session;
  }
}

const BEHIND = { subagent_type: 'explorer', run_in_background: true };
const never = waits(new Promise(() => {}));

/** A lead that waits for two in the background, the agents a_2 and a_3, when its process dies. */
const lost = async () => {
  const clock = virtualClock();
  const store = new SpoiltDisk(clock);
  const answer = ({ last, said }: Conversation): Answer => {
    if (last.includes('begin')) {
      return ['one', 'two'].map((it) => calls(`c_${it}`, 'Task', task(`job ${it}`, BEHIND)));
    }
    return said[0]?.includes('job') ? [says('half'), never] : [says('waiting')];
  };
  const harness = await swarmHarness(answer, { clock, store });
  await harness.say('begin');
  await allSettled();
  await harness.lead.close();
  return { clock, store, id: harness.lead.id };
};

const resume = async (
  { clock, store, id }: Awaited<ReturnType<typeof lost>>,
  options: Partial<Omit<LeadOptions, 'model'>> = {},
): Promise<SwarmHarness> => {
  const choice = { kind: 'resume', id } as const;
  const harness = await swarmHarness(() => [says('seen')], { clock, store, choice, ...options });
  harness.lead.start();
  await allSettled();
  return harness;
};

const notices = ({ items }: SwarmHarness): readonly string[] =>
  items.flatMap((it) => (it.type === 'notice' ? [it.text] : []));

/** Letters of agents that the lead has had, in their own words. */
const told = async ({ records }: SwarmHarness): Promise<readonly string[]> =>
  (await records()).flatMap((it) =>
    it.type === 'letter.received' && it.from === 'agent' ? [it.raw] : [],
  );

describe('a background agent of a process that died', () => {
  test('goes on though no agent may be nested so deep any more', async () => {
    const limits = { maxAgents: 10, maxConcurrentAgents: 10, maxDepth: 0 };
    const harness = await resume(await lost(), { swarm: { limits } });
    expect(harness.lead.state).toBe('stopped');
    expect([notices(harness), (await told(harness)).length]).toEqual([[], 2]);
  });

  test.each([
    ['unreadable', 'The disk is broken.'],
    ['unwritable', 'The disk is full.'],
    ['damaged', 'Its journal holds nothing to resume'],
  ] as const)('is told of when it cannot go on, and not waited for: %s', async (how, why) => {
    const before = await lost();
    before.store[how] = 'a_2';
    const harness = await resume(before);
    expect(harness.lead.state).toBe('stopped');
    expect(notices(harness)).toEqual([expect.stringMatching(new RegExp(`a_2.*${why}`))]);
    const letters = await told(harness);
    expect(letters).toHaveLength(2);
    expect(letters[0]).toMatch(new RegExp(`cannot resume.*a_2.*${why}`));
    expect(harness.requests.some(({ body }) => body.includes(why))).toBe(true);
  });

  test('is told of once, however often the session is resumed', async () => {
    const before = await lost();
    before.store.damaged = 'a_2';
    await (await resume(before)).lead.close();
    const again = await resume(before);
    expect(await told(again)).toHaveLength(2);
  });
});
