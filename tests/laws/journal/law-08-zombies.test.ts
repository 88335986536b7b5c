/** Law 8 between processes: one that was stopped, and wakes when others have what it had, changes nothing more. */
import { expect, onTestFinished, test } from 'vitest';
import type { JobEnd } from '../../../src/protocol/session/job-queue.js';
import type { MailLetter } from '../../../src/protocol/session/mailbox.js';
import { connectRedis } from '../../../src/store/redis/connection/redis-connections.js';
import { queueKey } from '../../../src/store/redis/connection/swarm-keys.js';
import { BullQueue, type BullQueueOptions } from '../../../src/store/redis/jobs/bull-queue.js';
import { bash, FREE, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { logOf, type WorkerScene, workerScene } from '../../fakes/agents/worker-scene.js';
import { redisBroker } from '../../fakes/redis/redis-server.js';
import type { Ended, Line, Rules } from '../../fakes/skein-process.js';
import { eventually } from '../../host/process/processes.js';
import { needs } from '../../setup/needs.js';

/** What a sleeper had is somebody else's soon. */
const LEASE = { SKEIN_LEASE_MS: '1500' };

const starts = (prompt: string) => ({
  tool_use: helper(prompt),
});

/** The helper leaves a line behind, writes to the lead and ends; `slow` is the answer that takes long. */
const rules = (slow: number): Rules => {
  const pace = (turn: number) => (turn === slow ? { delayMs: 1_000 } : {});
  const message = { name: 'SendMessage', input: { to: 'lead', message: 'Half of it is done.' } };
  return [
    { match: { firstUser: 'Begin', turn: 0 }, reply: starts('First') },
    { match: { lastUser: 'Once more' }, reply: starts('Second') },
    { match: { firstUser: 'Begin' }, reply: 'I see.' },
    { match: { firstUser: 'First', turn: 0 }, reply: { tool_use: bash('echo one >> log') } },
    { match: { firstUser: 'First', turn: 1 }, reply: { tool_use: message, ...pace(1) } },
    { match: { firstUser: 'First' }, reply: { text: 'The first is done.', ...pace(2) } },
    { reply: 'The second is done.' },
  ];
};

/** Of the agent whose first letter says that. */
const journalOf = async (scene: WorkerScene, task: string): Promise<readonly Line[]> =>
  (await scene.journals('one')).find((records) =>
    JSON.stringify(records.find(({ type }) => type === 'letter.received') ?? {}).includes(task),
  ) ?? [];

/** Resolves when so many requests are on their way, or were, and so many answers have come. */
const waiting = async (
  scene: WorkerScene,
  task: string,
  { requests, answers }: { readonly requests: number; readonly answers: number },
): Promise<void> => {
  for (let isWaiting = false; !isWaiting; ) {
    const types = (await journalOf(scene, task)).map(({ type }) => String(type));
    const many = (wanted: string) => types.filter((type) => type === wanted).length;
    isWaiting = many('turn.started') === requests && many('assistant.received') === answers;
  }
};

const told = ({ code, stdout, stderr }: Ended) => ({ code, stdout, stderr });

const owners = (records: readonly Line[]): readonly string[] =>
  records.flatMap(({ type, owner }) =>
    type === 'epoch.began' ? [String(owner).split('.')[1] ?? ''] : [],
  );

needs.describe('redis')('law 8, zombies', () => {
  test.each([
    ['writes', 1],
    ['ends', 2],
  ] as const)(
    'a worker that wakes when its agent %s elsewhere changes nothing, and takes others',
    async (_, turn) => {
      const scene = await workerScene(rules(turn), LEASE);
      const zombie = await scene.worker();
      const lead = scene.begin(LEAD);
      await waiting(scene, 'First', { requests: turn + 1, answers: turn });
      zombie.kill('SIGSTOP');
      const heir = await scene.worker();
      expect(told(await lead.ended)).toMatchObject({ code: 0, stdout: 'I see.\n' });
      heir.kill('SIGTERM');
      await heir.ended;
      const before = await journalOf(scene, 'First');
      zombie.kill('SIGCONT');
      await eventually('it lets the agent go', () =>
        zombie.stderr.includes('is returned to the queue'),
      );
      const again = await scene.run(['-p', 'Once more', '--resume', 'one', ...FREE]);
      expect(told(again)).toMatchObject({ code: 0, stdout: 'I see.\n' });

      expect(await journalOf(scene, 'First')).toEqual(before);
      expect(owners(before)).toEqual([String(zombie.pid), String(heir.pid)]);
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
      /^skein: .*Another process has taken over session one; nothing more is written here\.\n$/,
    ],
    [
      'had',
      /^skein: .*Another process has had session one since, .* nothing more is written here\.\n$/,
    ],
  ])(
    'a lead that wakes when another process %s its session says so once, and ends',
    async (now, says) => {
      const scene = await workerScene([{ reply: { text: 'Done.', delayMs: 1_000 } }], LEASE);
      const zombie = scene.begin(['-p', 'Begin', '--session-id', 'one']);
      await waiting(scene, 'Begin', { requests: 1, answers: 0 });
      zombie.kill('SIGSTOP');
      await scene.left('one');
      const heir = scene.begin(['resume', 'one', '-p'], await scene.elsewhere());
      if (now === 'had') await heir.ended;
      else await waiting(scene, 'Begin', { requests: 2, answers: 0 });
      zombie.kill('SIGCONT');
      const { code, stdout, stderr } = await zombie.ended;
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(says);
      expect(told(await heir.ended)).toEqual({ code: 0, stdout: 'Done.\n', stderr: '' });
      const [records = []] = await scene.journals('one');
      expect(owners(records)).toEqual([String(zombie.pid), String(heir.pid)]);
      expect(records.filter(({ type }) => type === 'assistant.received')).toHaveLength(1);
    },
  );

  test('what one still writes and sends for an agent that another has is refused', async () => {
    const scene = await workerScene([{ reply: 'Done.' }]);
    await scene.run(['-p', 'Begin', '--session-id', 'one']);
    const store = await scene.store();
    const [zombie, heir] = [await store.openAsWorker('one'), await store.openAsWorker('one')];
    await zombie.adopt('a_1');
    const journal = await zombie.journal('a_1', null);
    await heir.adopt('a_1');
    journal.append({ type: 'epoch.began', owner: 'zombie' });
    const mailbox = store.mailbox('one');
    const fence = zombie.fenceOf('a_1');
    await expect(journal.written()).rejects.toThrow(/Another process has taken over agent a_1/);
    await expect(mailbox.send(letter('l_1'), fence)).rejects.toThrow(/has taken over a_1/);
    // Planted: without the epoch nobody could know.
    await mailbox.send(letter('l_2'));
    await mailbox.send(letter('l_3'), heir.fenceOf('a_1'));
    const inbox = await mailbox.open('bob');
    const given = [await inbox.next(NEVER), await inbox.next(NEVER)].map((it) => it?.id);
    expect(given).toEqual(['l_2', 'l_3']);
    await mailbox.close();
    await Promise.all([zombie.close(), heir.close()]);
  });

  test.each([
    ['is done', 'done'],
    ['goes back', { laterMs: 0 }],
    ['goes back for a while', { laterMs: 1 }],
    ['can never be done', { never: 'There is no such swarm.' }],
  ] as const)('a worker that says that a job %s which another has is refused', async (_, end) => {
    const { broker, zombie, heir } = await twoWithOneJob();
    const hash = () => broker.call('HGETALL', queueKey(JOB));
    const before = [await hash(), await broker.call('GET', queueKey(`${JOB}:lock`))];
    await zombie.settle(end);
    expect([await hash(), await broker.call('GET', queueKey(`${JOB}:lock`))]).toEqual(before);
    expect((await heir.queue.list('s_1')).map(({ worker }) => worker)).toEqual(['w_2']);
    await heir.settle('done');
    expect(await broker.call('HGET', queueKey(JOB), 'pb')).toBe('w_2');
    expect(await broker.call('ZRANGE', queueKey('completed'), 0, -1)).toEqual([JOB]);
    expect(await broker.call('ZCARD', queueKey('failed'))).toBe(0);
    expect(await heir.queue.list('s_1')).toEqual([]);
  });

  test('catches a result that counts for another: planted, the lock of the zombie is put back', async () => {
    const { broker, zombie, heir } = await twoWithOneJob();
    await broker.call('SET', queueKey(`${JOB}:lock`), zombie.token);
    await zombie.settle('done');
    expect(await heir.queue.list('s_1')).toEqual([]);
  });
});

const JOB = 's_1.a_1.0';

/** The first has been silent for too long, and does not know that the second has its job. */
const twoWithOneJob = async () => {
  const broker = await redisBroker();
  const hire = async (name: string, terms: BullQueueOptions) => {
    const own = await connectRedis(broker.server.url);
    onTestFinished(() => own.close());
    const queue = new BullQueue(own, terms);
    let settle: (end: JobEnd) => void = () => {};
    const end = new Promise<JobEnd>((resolve) => {
      settle = resolve;
    });
    let isBegun = false;
    const workplace = await queue.consume(name, { concurrency: 1 }, () => {
      isBegun = true;
      return end;
    });
    return {
      queue,
      async begun() {
        await expect.poll(() => isBegun, { timeout: 10_000 }).toBe(true);
      },
      /** Resolves when Redis was told, whatever it said. */
      async settle(how: JobEnd) {
        settle(how);
        // Before it is closed: then the signal would have it given back.
        await expect.poll(() => workplace.busy).toBe(0);
        await workplace.close();
      },
    };
  };
  // It would notice after twenty seconds.
  const zombie = await hire('w_1', { lockMs: 60_000, stalledMs: 200 });
  await zombie.queue.add({ id: 'a_1', swarm: 's_1', addedAt: 1 });
  await zombie.begun();
  const token = String(await broker.call('GETDEL', queueKey(`${JOB}:lock`)));
  const heir = await hire('w_2', { lockMs: 60_000, stalledMs: 200 });
  await heir.begun();
  return { broker, zombie: { ...zombie, token }, heir };
};

const NEVER = new AbortController().signal;

const letter = (id: string): MailLetter => ({ id, from: 'a_1', to: 'bob', sentAt: 0, body: {} });
