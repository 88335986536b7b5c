import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SwarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { created, letter, meta, sessionFiles, temporaryFolder } from '../session-folder.js';

/** A closed session of four records, and its files. */
const closedSession = async () => {
  const root = temporaryFolder();
  const store = sessionFiles(root);
  const session = await store.create(meta());
  const journal = await session.journal('a_1', null);
  for (const body of [created, letter('l_1'), letter('l_2'), letter('l_3')]) journal.append(body);
  const events = await session.readEvents();
  await session.close();
  const file = (...names: string[]) => join(root, 's_1', ...names);
  const [index, log] = [file('events.jsonl'), file('agents', 'a_1.jsonl')];
  const read = async () => {
    const found: SwarmEvent[] = [];
    for await (const event of store.events('s_1')) found.push(event);
    return found;
  };
  return { root, store, events, index, log, read };
};

const cut = (path: string, lines: number, rest = '') =>
  fs.writeFileSync(
    path,
    `${fs.readFileSync(path, 'utf8').split('\n').slice(0, lines).join('\n')}\n${rest}`,
  );

describe('the events of a session without an owner', () => {
  test.each([
    ['is gone', (path: string) => fs.rmSync(path)],
    ['is empty', (path: string) => fs.writeFileSync(path, '')],
    ['lags behind', (path: string) => cut(path, 2)],
    ['ends in a torn line', (path: string) => cut(path, 2, '{"v":1,"seq":3,"ts"')],
    ['has a corrupt line in its middle', (path: string) => cut(path, 1, 'x\n{"v":1}\n')],
  ])('are complete if the index %s', async (_, damage) => {
    const { index, read, events } = await closedSession();
    damage(index);
    expect(await read()).toEqual(events);
  });

  test('exclude damaged records of the journal, and include the others', async () => {
    const { index, log, read } = await closedSession();
    const lines = fs.readFileSync(log, 'utf8').split('\n');
    fs.writeFileSync(log, `${lines.with(1, '{"broken').join('\n')}{"v":1,"seq":5`);
    fs.rmSync(index);
    expect((await read()).map(({ cites }) => cites.seq)).toEqual([1, 3, 4]);
  });

  test('are refused with the path if a newer version wrote them', async () => {
    const { index, log, read } = await closedSession();
    fs.appendFileSync(log, '{"v":99,"seq":5,"ts":1,"epoch":1,"type":"future"}\n');
    fs.rmSync(index);
    await expect(read()).rejects.toThrow(/a_1\.jsonl was written by a newer skein/);
  });

  test('exclude a journal line of 70 MB', async () => {
    const { log, index, read } = await closedSession();
    const fd = fs.openSync(log, 'a');
    for (let piece = 0; piece < 70; piece += 1) fs.writeSync(fd, 'x'.repeat(1024 * 1024));
    fs.writeSync(fd, '\n');
    fs.closeSync(fd);
    fs.rmSync(index);
    expect(await read()).toHaveLength(4);
  });
});

describe('a watch of a session', () => {
  test('waits for the end of a torn line, and continues in a replaced index', async () => {
    const { store, index, events } = await closedSession();
    const text = fs.readFileSync(index, 'utf8');
    fs.writeFileSync(index, text.slice(0, -20));
    const watch = store.watch('s_1');
    expect(await watch.next()).toEqual(events.slice(0, 3));
    expect(await watch.next()).toEqual([]);
    fs.appendFileSync(index, text.slice(-20));
    expect(await watch.next()).toEqual(events.slice(3));
    const more = { ...events[3], seq: 5 };
    fs.writeFileSync(`${index}.new`, `${text}${JSON.stringify(more)}\n`);
    fs.renameSync(`${index}.new`, index);
    expect(await watch.next()).toEqual([more]);
  });
});

describe('the removal of a session', () => {
  test('does not follow links, and also removes leftovers of an earlier removal', async () => {
    const { root, store } = await closedSession();
    const elsewhere = temporaryFolder();
    fs.writeFileSync(join(elsewhere, 'precious'), 'mine');
    fs.symlinkSync(elsewhere, join(root, 's_1', 'artifacts', 'link'));
    fs.mkdirSync(join(root, '.removed-s_0.7'));
    fs.copyFileSync(join(root, 's_1', 'session.json'), join(root, '.removed-s_0.7/session.json'));
    expect(await store.list()).toHaveLength(1);
    const freed = await store.remove('s_1');
    expect(freed).toBeLessThan(10_000);
    expect(fs.readFileSync(join(elsewhere, 'precious'), 'utf8')).toBe('mine');
    expect(fs.readdirSync(root)).toEqual([]);
  });
});

describe('a survey', () => {
  test('lists unreadable sessions with the reason', async () => {
    const { root, store } = await closedSession();
    for (const [id, text] of [
      ['s_bad', 'nonsense'],
      ['s_new', '{"format":99}'],
      ['s_other', JSON.stringify(meta({ id: '../s_1' }))],
    ] as const) {
      fs.mkdirSync(join(root, id));
      fs.writeFileSync(join(root, id, 'session.json'), text);
    }
    expect(await store.survey()).toEqual({
      sessions: [meta()],
      unreadable: [
        { id: 's_bad', reason: expect.stringMatching(/not valid JSON/) },
        { id: 's_new', reason: expect.stringMatching(/newer skein/) },
        { id: 's_other', reason: expect.stringMatching(/another session/) },
      ],
    });
  });

  test('is empty without the sessions folder, and rejects if the folder is a file', async () => {
    const root = join(temporaryFolder(), 'sessions');
    expect((await sessionFiles(root).survey()).sessions).toEqual([]);
    fs.writeFileSync(root, '');
    await expect(sessionFiles(root).survey()).rejects.toThrow(
      /Cannot list the sessions in .*ENOTDIR/,
    );
  });
});

describe('a named pipe in place of a session file', () => {
  const pipeAt = (path: string) => {
    fs.rmSync(path, { force: true });
    execFileSync('mkfifo', [path]);
  };

  test.each(['session.json', 'events.jsonl', 'agents/a_1.jsonl', 'artifacts/x.json', 'lease/1'])(
    'does not block readers: %s',
    async (name) => {
      const { root, store } = await closedSession();
      const session = await store.open('s_1');
      await session.putArtifact('x.json', Buffer.from('{}'));
      await session.close();
      pipeAt(join(root, 's_1', name));
      const look = async () => {
        await store.survey();
        for await (const _ of store.events('s_1')) break;
        await store.readJournal('s_1', 'a_1');
        await store.readArtifact('s_1', 'x.json');
        const again = await store.open('s_1');
        try {
          await again.journal('a_1', null);
        } finally {
          await again.close();
        }
        return 'An answer.';
      };
      const end = await look().catch((error: unknown) => (error as Error).message);
      expect(end).toMatch(/\.$/);
    },
  );
});

describe('a watch of a journal', () => {
  test('returns each record once if a torn last line is cut off meanwhile', async () => {
    const { store, log } = await closedSession();
    const watch = store.watchRecords('s_1', 'a_1');
    fs.appendFileSync(log, '{"v":1,"seq":5,"ts":1,"epo');
    expect((await watch.next()).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    const journal = await (await store.open('s_1')).journal('a_1', null);
    expect(await watch.next()).toEqual([]);
    const next = journal.append(letter('l_4'));
    expect(await watch.next()).toEqual([next]);
  });
});
