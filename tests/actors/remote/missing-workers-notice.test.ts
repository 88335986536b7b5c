import { describe, expect, test } from 'vitest';
import { FeedHub } from '../../../src/actors/agent/feed-hub.js';
import { MissingWorkersNotice } from '../../../src/actors/remote/missing-workers-notice.js';
import { RedisOutage } from '../../../src/store/redis/connection/redis-outage.js';
import { virtualClock } from '../../fakes/virtual-clock.js';

const setUp = (...workers: { readonly name: string }[]) => {
  const [clock, feed, outages] = [virtualClock(), new FeedHub(false), new RedisOutage()];
  const notices: string[] = [];
  feed.listen((item) => item.type === 'notice' && notices.push(item.text));
  const jobs = { workers: async () => [...workers] };
  const watch = new MissingWorkersNotice({
    endJobless: async () => {},
    clock,
    feed,
    outages,
    jobs,
    open: () => 1,
  });
  watch.startChecking();
  return { clock, outages, notices, workers };
};

const NO_WORKER = 'No worker is running, and 1 agent waits. Start a worker with `skein worker`.';

describe('MissingWorkersNotice', () => {
  test('shows a notice once if no worker runs', async () => {
    const { clock, notices } = setUp();
    await clock.advance(60_000);
    expect(notices).toEqual([NO_WORKER]);
  });

  test('shows no notice while Redis is unreachable, nor before workers could send a heartbeat', async () => {
    const { clock, outages, notices, workers } = setUp({ name: 'w_1' });
    await clock.advance(10_000);
    outages.setUnreachable('Redis is away');
    workers.length = 0;
    await clock.advance(60_000);
    outages.setUnreachable(undefined);
    await clock.advance(5_000);
    workers.push({ name: 'w_1' });
    await clock.advance(60_000);
    expect(notices).toEqual([]);
    workers.length = 0;
    await clock.advance(10_000);
    expect(notices).toEqual([NO_WORKER]);
  });
});
