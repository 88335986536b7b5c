import { expect, test } from 'vitest';
import { LocalJobClaims } from '../../../src/actors/swarm/local-job-claims.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import { meta } from '../../store/contracts/records.js';

const jobsOf = async () => {
  const clock = virtualClock();
  const store = new MemorySessionStore(clock);
  const session = await store.create(meta());
  const ofWorker = (owner: string) => new LocalJobClaims({ store, session, owner }, clock);
  return { queue: store.jobs, ofWorker };
};

test('a completed job can be claimed by the next process', async () => {
  const { ofWorker } = await jobsOf();
  const first = ofWorker('o_1');
  await first.claim('a_2');
  await first.complete('a_2');
  expect(await ofWorker('o_2').claim('a_2')).toBe(true);
});

test('a job that another process has claimed cannot be claimed', async () => {
  const { ofWorker } = await jobsOf();
  await ofWorker('o_1').claim('a_2');
  expect(await ofWorker('o_2').claim('a_2')).toBe(false);
});

test('a job that is claimed while the session closes is left for the next owner', async () => {
  const { queue, ofWorker } = await jobsOf();
  const jobs = ofWorker('o_1');
  const claimed = jobs.claim('a_2');
  await jobs.release();
  expect(await claimed).toBe(false);
  expect(await queue.list(meta().id)).toMatchObject([{ id: 'a_2', worker: undefined }]);
});
