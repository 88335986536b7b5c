import { expect, test } from 'vitest';
import type { JournalBody } from '../../../src/protocol/session/journal-record.js';
import { StorageError, UsageError } from '../../../src/protocol/skein-error.js';
import { recordRefusal } from '../../../src/sdk/worker/record-refusal.js';
import { redisConnections } from '../../fakes/redis/redis-server.js';
import { needs } from '../../setup/needs.js';
import { createdFor, meta } from '../../store/contracts/records.js';
import { redisSessions } from '../../store/redis/sessions/redis-session-store.js';

const FOR_WORKER = 'It waits for a worker.';

/** An agent that its lead has handed to the queue. */
const setUp = async () => {
  const store = redisSessions(await redisConnections());
  const lead = await store.create(meta());
  const queue = async () => {
    await lead.takeBack('a_2');
    const journal = await lead.journal('a_2', 'a_1');
    if (journal.past.records.length === 0) journal.append(createdFor('a_2', 'a_1'));
    journal.append({ type: 'agent.queued', reason: FOR_WORKER });
    await lead.closeJournal('a_2');
  };
  const begin = async (...bodies: readonly JournalBody[]) => {
    const session = await store.openAsWorker('s_1');
    await session.adopt('a_2');
    const journal = await session.journal('a_2', 'a_1');
    for (const body of [{ type: 'epoch.began', owner: 'w_9' } as const, ...bodies]) {
      journal.append(body);
    }
    await session.close();
  };
  const job = { swarm: 's_1', id: 'a_2', signal: new AbortController().signal };
  const refuse = (reason: string, worker = 'w_1') =>
    recordRefusal(store, job, new UsageError(reason), worker);
  const reasons = async () => {
    const { records } = await store.readJournal('s_1', 'a_2');
    return records.flatMap((record) => (record.type === 'agent.queued' ? [record.reason] : []));
  };
  await queue();
  return { store, job, queue, begin, refuse, reasons };
};

needs.describe('redis')('a recorded refusal', () => {
  test('is written once for each reason, even if machines refuse by turns', async () => {
    const { refuse, reasons } = await setUp();
    for (let round = 0; round < 3; round += 1) {
      await refuse('It is not on field.', 'w_1');
      await refuse('It is not on barn.', 'w_2');
      await refuse('It is not on barn.', 'w_3');
    }
    expect(await reasons()).toEqual([FOR_WORKER, 'It is not on field.', 'It is not on barn.']);
  });

  test('is written again after the agent ran or was queued again', async () => {
    const { queue, begin, refuse, reasons } = await setUp();
    await refuse('No.');
    await begin();
    await refuse('No.');
    await queue();
    await refuse('No.');
    expect(await reasons()).toEqual([FOR_WORKER, 'No.', 'No.', FOR_WORKER, 'No.']);
  });

  test('is not written for an ended agent until it is resumed', async () => {
    const { queue, begin, refuse, reasons } = await setUp();
    await begin(
      { type: 'run.started', run: 1 },
      { type: 'run.ended', reason: 'end_turn', detail: null, turns: 1, final: true },
    );
    await refuse('No.');
    expect(await reasons()).toEqual([FOR_WORKER]);
    await queue();
    await refuse('No.');
    expect(await reasons()).toEqual([FOR_WORKER, FOR_WORKER, 'No.']);
  });

  test('is limited in number, even if all reasons differ', async () => {
    const { refuse, reasons } = await setUp();
    for (let round = 0; round < 25; round += 1) await refuse(`It took ${round} ms.`);
    expect(await reasons()).toHaveLength(21);
  });

  test('is not written for errors that were reported elsewhere', async () => {
    const { store, job, reasons } = await setUp();
    await recordRefusal(store, job, new StorageError('Redis is full.'), 'w_1');
    expect(await reasons()).toEqual([FOR_WORKER]);
  });
});
