/**
 * Law 8 between processes: a stopped process that continues after another took over can change no
 * data.
 */
import { expect, onTestFinished, test } from 'vitest';
import type { JobEnd } from '../../../src/protocol/session/job-queue.js';
import type { MailLetter } from '../../../src/protocol/session/mailbox.js';
import { connectRedis } from '../../../src/store/redis/connection/redis-connections.js';
import { queueKey } from '../../../src/store/redis/connection/swarm-keys.js';
import { BullQueue, type BullQueueOptions } from '../../../src/store/redis/jobs/bull-queue.js';
import { bash, FREE, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { logOf, type WorkerScene, workerScene } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import { redisConnections } from '../../fakes/redis/redis-server.js';
import type { Ended, Line, Rules } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

/** Short lease, so that another process soon takes over from a stopped process. */
const LEASE = { SKEIN_LEASE_MS: '1500' };

const starts = (prompt: string) => ({
  tool_use: helper(prompt),
});

/** The helper appends to a file, writes to the lead and ends. `slow` is the turn with a delay. */
const rules = (slow: number): Rules => {
  const delayOf = (turn: number) => (turn === slow ? { delayMs: 1_000 } : {});
  const message = { name: 'SendMessage', input: { to: 'lead', message: 'Half of it is done.' } };
  return [
    { match: { firstUser: 'Begin', turn: 0 }, reply: starts('First') },
    { match: { lastUser: 'Once more' }, reply: starts('Second') },
    { match: { firstUser: 'Begin' }, reply: 'I see.' },
    { match: { firstUser: 'First', turn: 0 }, reply: { tool_use: bash('echo one >> log') } },
    { match: { firstUser: 'First', turn: 1 }, reply: { tool_use: message, ...delayOf(1) } },
    { match: { firstUser: 'First' }, reply: { text: 'The first is done.', ...delayOf(2) } },
    { reply: 'The second is done.' },
  ];
};

/** Journal of the agent whose first letter contains `task`. */
const journalOf = async (scene: WorkerScene, task: string): Promise<readonly Line[]> =>
  (await scene.journals('one')).find((records) =>
    JSON.stringify(records.find(({ type }) => type === 'letter.received') ?? {}).includes(task),
  ) ?? [];

/** Resolves when the journal has this number of requests and of answers. */
const waiting = async (
  scene: WorkerScene,
  task: string,
  { requests, answers }: { readonly requests: number; readonly answers: number },
): Promise<void> => {
  for (let isWaiting = false; !isWaiting; ) {
    const types = (await journalOf(scene, task)).map(({ type }) => String(type));
    const countOf = (type: string) => types.filter((it) => it === type).length;
    isWaiting = countOf('turn.started') === requests && countOf('assistant.received') === answers;
  }
};

const outputOf = ({ code, stdout, stderr }: Ended) => ({ code, stdout, stderr });

const owners = (records: readonly Line[]): readonly string[] =>
  records.flatMap(({ type, owner }) =>
    type === 'epoch.began' ? [String(owner).split('.')[1] ?? ''] : [],
  );

needs.describe('redis')('law 8, zombies', () => {
  test.each([
    ['writes', 1],
    ['ends', 2],
  ] as const)(
    'a stopped worker that continues when its agent %s elsewhere changes no data, and takes other jobs',
    async (_, turn) => {
      const scene = await workerScene(rules(turn), LEASE);
      const zombie = await scene.worker();
      const lead = scene.begin(LEAD);
      await waiting(scene, 'First', { requests: turn + 1, answers: turn });
      zombie.kill('SIGSTOP');
      const successor = await scene.worker();
      expect(outputOf(await lead.ended)).toMatchObject({ code: 0, stdout: 'I see.\n' });
      successor.kill('SIGTERM');
      await successor.ended;
      const before = await journalOf(scene, 'First');
      zombie.kill('SIGCONT');
      await eventually('the zombie returns the agent', () =>
        zombie.stderr.includes('is returned to the queue'),
      );
      const again = await scene.run(['-p', 'Once more', '--resume', 'one', ...FREE]);
      expect(outputOf(again)).toMatchObject({ code: 0, stdout: 'I see.\n' });

      expect(await journalOf(scene, 'First')).toEqual(before);
      expect(owners(before)).toEqual([String(zombie.pid), String(successor.pid)]);
      expect(before.filter(({ type }) => type === 'run.ended')).toHaveLength(1);
      expect(logOf(scene)).toEqual(['one']);
      expect(owners(await journalOf(scene, 'Second'))).toEqual([String(zombie.pid)]);
      const letters = (await journalOf(scene, 'Begin')).flatMap(({ type, letter }) => {
        return type === 'letter.received' ? [String(letter).slice(0, 2)] : [];
      });
      expect(letters.filter((kind) => kind !== 'l_').sort()).toEqual(['m_', 'r_', 'r_']);
      const store = await scene.store();
      expect(await store.mailbox('one').deadLetters()).toEqual([]);
      zombie.kill('SIGTERM');
      expect((await zombie.ended).code).toBe(0);
    },
    60_000,
  );

  test.each([
    [
      'has',
      /^\S+Z host=\S+ session=one .*Another process has taken over session one; nothing more is written here\.\n$/,
    ],
    [
      'had',
      /^\S+Z host=\S+ session=one .*This process no longer owns session one: .* Nothing more is written here\.\n$/,
    ],
  ])(
    'a stopped lead that continues when another process %s its session reports that once and ends',
    async (now, says) => {
      const scene = await workerScene([{ reply: { text: 'Done.', delayMs: 1_000 } }], LEASE);
      const zombie = scene.begin(['-p', 'Begin', '--session-id', 'one']);
      await waiting(scene, 'Begin', { requests: 1, answers: 0 });
      zombie.kill('SIGSTOP');
      await scene.left('one');
      const successor = scene.begin(['resume', 'one', '-p'], await scene.elsewhere());
      if (now === 'had') await successor.ended;
      else await waiting(scene, 'Begin', { requests: 2, answers: 0 });
      zombie.kill('SIGCONT');
      const { code, stdout, stderr } = await zombie.ended;
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(says);
      expect(outputOf(await successor.ended)).toEqual({ code: 0, stdout: 'Done.\n', stderr: '' });
      const [records = []] = await scene.journals('one');
      expect(owners(records)).toEqual([String(zombie.pid), String(successor.pid)]);
      expect(records.filter(({ type }) => type === 'assistant.received')).toHaveLength(1);
    },
  );

  test('writes and letters for an agent that another process has taken over are refused', async () => {
    const scene = await workerScene([{ reply: 'Done.' }]);
    await scene.run(['-p', 'Begin', '--session-id', 'one']);
    const store = await scene.store();
    const [zombie, successor] = [await store.openAsWorker('one'), await store.openAsWorker('one')];
    await zombie.adopt('a_1');
    const journal = await zombie.journal('a_1', null);
    await successor.adopt('a_1');
    journal.append({ type: 'epoch.began', owner: 'zombie' });
    const mailbox = store.mailbox('one');
    const fence = zombie.fenceOf('a_1');
    await expect(journal.written()).rejects.toThrow(/Another process has taken over agent a_1/);
    await expect(mailbox.send(letter('l_1'), fence)).rejects.toThrow(/has taken over a_1/);
    // Planted violation: without the epoch the store cannot detect it.
    await mailbox.send(letter('l_2'));
    await mailbox.send(letter('l_3'), successor.fenceOf('a_1'));
    const inbox = await mailbox.open('bob');
    const given = [await inbox.next(NEVER), await inbox.next(NEVER)].map((it) => it?.id);
    expect(given).toEqual(['l_2', 'l_3']);
    await mailbox.close();
    await Promise.all([zombie.close(), successor.close()]);
  });

  test.each([
    ['is done', 'done'],
    ['returns to the queue', { laterMs: 0 }],
    ['returns to the queue later', { laterMs: 1 }],
    ['can never be done', { never: 'There is no such swarm.' }],
  ] as const)('the end of a job that another worker has is refused: it %s', async (_, end) => {
    const { connections, zombie, successor } = await twoWorkersWithOneJob();
    const hash = () => connections.call('HGETALL', queueKey(JOB));
    const before = [await hash(), await connections.call('GET', queueKey(`${JOB}:lock`))];
    await zombie.settle(end);
    expect([await hash(), await connections.call('GET', queueKey(`${JOB}:lock`))]).toEqual(before);
    expect((await successor.queue.list('s_1')).map(({ worker }) => worker)).toEqual(['w_2']);
    await successor.settle('done');
    expect(await connections.call('HGET', queueKey(JOB), 'pb')).toBe('w_2');
    expect(await connections.call('ZRANGE', queueKey('completed'), 0, -1)).toEqual([JOB]);
    expect(await connections.call('ZCARD', queueKey('failed'))).toBe(0);
    expect(await successor.queue.list('s_1')).toEqual([]);
  });

  test('catches a result of another worker (planted: the lock of the first worker is restored)', async () => {
    const { connections, zombie, successor } = await twoWorkersWithOneJob();
    await connections.call('SET', queueKey(`${JOB}:lock`), zombie.token);
    await zombie.settle('done');
    expect(await successor.queue.list('s_1')).toEqual([]);
  });
});

const JOB = 's_1.a_1.0';

/** The first worker was silent for too long, and does not know that the second has its job. */
const twoWorkersWithOneJob = async () => {
  const connections = await redisConnections();
  const startWorker = async (name: string, options: BullQueueOptions) => {
    const own = await connectRedis(connections.server.url);
    onTestFinished(() => own.close());
    const queue = new BullQueue(own, options);
    let settle: (end: JobEnd) => void = () => {};
    const end = new Promise<JobEnd>((resolve) => {
      settle = resolve;
    });
    let isStarted = false;
    const consumer = await queue.consume(name, { concurrency: 1 }, () => {
      isStarted = true;
      return end;
    });
    return {
      queue,
      async started() {
        await expect.poll(() => isStarted, { timeout: 10_000 }).toBe(true);
      },
      /** Resolves after Redis has answered, with any result. */
      async settle(how: JobEnd) {
        settle(how);
        // Wait before close, because the signal of close would return the job.
        await expect.poll(() => consumer.busy).toBe(0);
        await consumer.close();
      },
    };
  };
  // The worker would detect the loss after twenty seconds.
  const zombie = await startWorker('w_1', { lockMs: 60_000, stalledMs: 200 });
  await zombie.queue.add({ id: 'a_1', swarm: 's_1', addedAt: 1 });
  await zombie.started();
  const token = String(await connections.call('GETDEL', queueKey(`${JOB}:lock`)));
  const successor = await startWorker('w_2', { lockMs: 60_000, stalledMs: 200 });
  await successor.started();
  return { connections, zombie: { ...zombie, token }, successor };
};

const NEVER = new AbortController().signal;

const letter = (id: string): MailLetter => ({ id, from: 'a_1', to: 'bob', sentAt: 0, body: {} });
