/** Letters to the lead about background agents that cannot be resumed. */
import { describe, expect, test } from 'vitest';
import { formatRecord } from '../../../src/protocol/session/journal-record.js';
import type { OwnedSession } from '../../../src/protocol/session/owned-session.js';
import { StorageError } from '../../../src/protocol/skein-error.js';
import { checkJournal } from '../../../src/store/files/journal/read-journal.js';
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

/** Store whose reopened sessions have damaged journals. */
class DamagedStore extends MemorySessionStore {
  unreadable = '';
  unwritable = '';
  /** Agent whose letters are missing from its journal. */
  damaged = '';
  /** Agent whose journal has lost the records of these types. Undefined: all records. */
  cut = '';
  lostTypes: readonly string[] | undefined = ['user.sent'];

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
      if (agent === this.cut) {
        const { records } = opened.past;
        const left = records.filter(({ type }) =>
          this.lostTypes === undefined
            ? type === 'journal.repaired'
            : !this.lostTypes.includes(type),
        );
        const checked = checkJournal(left.map(formatRecord), `/agents/${agent}.jsonl`, {
          indexed: records.length,
        });
        return Object.assign(opened, { past: checked.contents });
      }
      if (agent !== this.damaged) return opened;
      const { records, ...past } = opened.past;
      const left = records.filter(({ type }) => type !== 'letter.received');
      return { ...opened, past: { ...past, records: left } };
    };
    return session;
  }
}

const BACKGROUND = { subagent_type: 'explorer', run_in_background: true };
const never = waits(new Promise(() => {}));

/** Lead whose process dies while it waits for the agents a_2 and a_3, by default in the background. */
const lost = async (input: Record<string, unknown> = BACKGROUND) => {
  const clock = virtualClock();
  const store = new DamagedStore(clock);
  const answer = ({ last, said }: Conversation): Answer => {
    if (last.includes('begin')) {
      return ['one', 'two'].map((it) => calls(`c_${it}`, 'Task', task(`job ${it}`, input)));
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

/** Letters from agents that the lead has received. */
const agentLetters = async ({ records }: SwarmHarness): Promise<readonly string[]> =>
  (await records()).flatMap((it) =>
    it.type === 'letter.received' && it.from === 'agent' ? [it.raw] : [],
  );

describe('a background agent of a process that died', () => {
  test('resumes even if the maximum depth is now lower', async () => {
    const limits = { maxAgents: 10, maxConcurrentAgents: 10, maxDepth: 0 };
    const harness = await resume(await lost(), { swarm: { limits } });
    expect(harness.lead.state).toBe('stopped');
    expect([notices(harness), (await agentLetters(harness)).length]).toEqual([[], 2]);
  });

  test.each([
    ['unreadable', 'The disk is broken.'],
    ['unwritable', 'The disk is full.'],
    ['damaged', 'Its journal holds nothing to resume'],
  ] as const)('is reported and not awaited if it cannot be resumed: %s', async (how, why) => {
    const before = await lost();
    before.store[how] = 'a_2';
    const harness = await resume(before);
    expect(harness.lead.state).toBe('stopped');
    expect(notices(harness)).toEqual([expect.stringMatching(new RegExp(`a_2.*${why}`))]);
    const letters = await agentLetters(harness);
    expect(letters).toHaveLength(2);
    expect(letters[0]).toMatch(new RegExp(`cannot resume.*a_2.*${why}`));
    expect(harness.requests.some(({ body }) => body.includes(why))).toBe(true);
  });

  test('resumes from a journal that has lost records, which are named with file and line', async () => {
    const before = await lost();
    before.store.cut = 'a_2';
    const harness = await resume(before);
    expect(harness.lead.state).toBe('stopped');
    const named = expect.stringMatching(/^\/agents\/a_2\.jsonl:\d+: record \d+ is missing before/);
    expect(harness.lead.damage).toEqual([named]);
    expect(await agentLetters(harness)).toHaveLength(2);
    const resumed = harness.requests.filter(({ body }) =>
      body.includes('A file of this session was damaged'),
    );
    expect(resumed).toHaveLength(1);
  });

  test.each([
    ['its creation', ['agent.created']],
    ['its task', ['letter.received']],
    ['all records', undefined],
  ])('of a waiting call does not start anew without %s', async (_, lostTypes) => {
    const before = await lost({ subagent_type: 'explorer' });
    Object.assign(before.store, { cut: 'a_2', lostTypes });
    const harness = await resume(before);
    expect(harness.lead.state).toBe('stopped');
    const bodies = harness.requests.map(({ body }) => body);
    const started = bodies.filter((body) => !body.includes('begin') && body.includes('job one'));
    expect(started).toEqual([]);
    const results = bodies.filter((body) => body.includes('a_2 of this call has lost'));
    expect(results).toHaveLength(1);
    expect(results[0]).toContain('check before you start it again');
    expect(harness.lead.damage).toEqual([
      expect.stringMatching(/^\/agents\/a_2\.jsonl:\d+: record/),
    ]);
  });

  test('is reported once, even if the session is resumed several times', async () => {
    const before = await lost();
    before.store.damaged = 'a_2';
    await (await resume(before)).lead.close();
    const again = await resume(before);
    expect(await agentLetters(again)).toHaveLength(2);
    expect(notices(again)).toEqual([]);
  });

  test('without any records is named once with file and line', async () => {
    const before = await lost();
    Object.assign(before.store, { cut: 'a_2', lostTypes: undefined });
    const first = await resume(before);
    expect(first.lead.damage).toEqual([
      expect.stringMatching(/^\/agents\/a_2\.jsonl:\d+: records/),
    ]);
    await first.lead.close();
    const again = await resume(before);
    expect([again.lead.damage, notices(again)]).toEqual([[], []]);
  });
});
