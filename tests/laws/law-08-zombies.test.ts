/** Law 8 between processes: one that was stopped, and wakes when others have what it had, changes nothing more. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { MailLetter } from '../../src/protocol/mailbox.js';
import type { Ended, Line, Rules } from '../fakes/skein-process.js';
import {
  backgroundTask,
  bash,
  HELPERS,
  type WorkerScene,
  workerScene,
} from '../fakes/worker-scene.js';
import { eventually } from '../host/processes.js';
import { needs } from '../setup/needs.js';

const FREE = ['--permission-mode', 'bypassPermissions', '--agents', HELPERS];
/** What a sleeper had is somebody else's soon. */
const LEASE = { SKEIN_LEASE_MS: '1500' };

const starts = (prompt: string) => ({
  tool_use: backgroundTask(prompt, { subagent_type: 'helper' }),
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
      const lead = scene.begin(['-p', 'Begin', '--session-id', 'one', ...FREE]);
      await waiting(scene, 'First', { requests: turn + 1, answers: turn });
      zombie.kill('SIGSTOP');
      const heir = await scene.worker();
      expect(told(await lead.ended)).toMatchObject({ code: 0, stdout: 'I see.\n' });
      heir.kill('SIGTERM');
      await heir.ended;
      const before = await journalOf(scene, 'First');
      zombie.kill('SIGCONT');
      await eventually('it lets the agent go', () => zombie.stderr.includes('is given back'));
      const again = await scene.run(['-p', 'Once more', '--resume', 'one', ...FREE]);
      expect(told(again)).toMatchObject({ code: 0, stdout: 'I see.\n' });

      expect(await journalOf(scene, 'First')).toEqual(before);
      expect(owners(before)).toEqual([String(zombie.pid), String(heir.pid)]);
      expect(before.filter(({ type }) => type === 'run.ended')).toHaveLength(1);
      expect(readFileSync(join(scene.workspace, 'log'), 'utf8')).toBe('one\n');
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
    const [zombie, heir] = [await store.visit('one'), await store.visit('one')];
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
});

const NEVER = new AbortController().signal;

const letter = (id: string): MailLetter => ({ id, from: 'a_1', to: 'bob', sentAt: 0, body: {} });
