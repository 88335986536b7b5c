import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatRecord } from '../../../src/protocol/session/journal-record.js';
import { created, letter, meta, sessionFiles, temporaryFolder } from '../session-folder.js';

/** A closed session with three records in its journal, and the paths of its files. */
const writtenSession = async () => {
  const root = temporaryFolder();
  const store = sessionFiles(root);
  const session = await store.create(meta());
  const journal = await session.journal('a_1', null);
  const records = [
    journal.append(created),
    journal.append(letter('l_1', 'Grüße 🦢')),
    journal.append({ type: 'run.started', run: 1 }),
  ];
  await session.close();
  const folder = join(root, 's_1');
  const files = { journal: join(folder, 'agents/a_1.jsonl'), events: join(folder, 'events.jsonl') };
  return { root, store, folder, records, ...files };
};

const reopen = async ({ store }: { store: ReturnType<typeof sessionFiles> }) => {
  const session = await store.open('s_1');
  return { session, journal: await session.journal('a_1', null) };
};

describe('a truncated journal', () => {
  test('opens without the lost records, names them, and accepts new records, for every length', async () => {
    const written = await writtenSession();
    const bytes = fs.readFileSync(written.journal);
    const ends = [...bytes.entries()].flatMap(([index, byte]) => (byte === 10 ? [index + 1] : []));
    const events = fs.readFileSync(written.events);
    expect(ends).toHaveLength(3);
    for (let length = 0; length <= bytes.length; length += 1) {
      fs.writeFileSync(written.journal, bytes.subarray(0, length));
      fs.writeFileSync(written.events, events);
      const whole = written.records.slice(0, ends.filter((end) => end <= length).length);
      const { session, journal } = await reopen(written);
      const { records, damage, lost } = journal.past;
      expect(records).toEqual(whole);
      const isWhole = whole.length === written.records.length;
      expect(lost).toEqual(isWhole ? undefined : [{ from: whole.length + 1, to: 3 }]);
      const missing = `a_1.jsonl:${whole.length}: records? ${whole.length + 1} `;
      expect(damage.length).toBe(isWhole ? 0 : 1);
      expect(damage.every((sentence) => new RegExp(missing).test(sentence))).toBe(true);
      const next = journal.append(letter('l_2'));
      // The numbers of lost records are not used again, because the index cites them.
      expect(next.seq).toBe(4);
      await session.close();
      expect((await written.store.readJournal('s_1', 'a_1')).records).toEqual([...whole, next]);
    }
  });

  test('has its torn record in a separate file', async () => {
    const written = await writtenSession();
    fs.appendFileSync(written.journal, '{"v":1,"seq":4,"ts"');
    await reopen(written);
    expect(fs.readFileSync(`${written.journal}.torn`, 'utf8')).toBe('{"v":1,"seq":4,"ts"\n');
  });

  test('with a long torn record lacks only that record', async () => {
    const written = await writtenSession();
    const long = letter('l_9', 'x'.repeat(200_000));
    fs.appendFileSync(
      written.journal,
      formatRecord({ v: 1, seq: 4, ts: 1, epoch: 1, ...long } as never),
    );
    expect((await reopen(written)).journal.past.records).toEqual(written.records);
  });

  test('is not repaired by a reader', async () => {
    const written = await writtenSession();
    fs.appendFileSync(written.journal, '{"torn');
    const before = fs.readFileSync(written.journal, 'utf8');
    expect((await written.store.readJournal('s_1', 'a_1')).records).toEqual(written.records);
    expect(fs.readFileSync(written.journal, 'utf8')).toBe(before);
  });
});

describe('the separate file', () => {
  test.each([
    ['torn', '{"v":1,"seq":4,"ts"'],
    ['corrupt', 'not a record\n'],
  ])('of %s records is readable by the owner only, like the journal', async (name, damage) => {
    const written = await writtenSession();
    fs.appendFileSync(written.journal, damage);
    const session = await sessionFiles(written.root).open('s_1');
    await session.journal('a_1', null);
    await session.close();
    expect(fs.statSync(`${written.journal}.${name}`).mode & 0o777).toBe(0o600);
  });
});

describe('a journal with a corrupt line', () => {
  test('reports the line number and moves the line to a separate file', async () => {
    const written = await writtenSession();
    const lines = fs.readFileSync(written.journal, 'utf8').split('\n');
    lines[1] = 'ceci n’est pas du JSON';
    fs.writeFileSync(written.journal, lines.join('\n'));
    const { session, journal } = await reopen(written);
    expect(journal.past.damage).toEqual([
      expect.stringContaining('a_1.jsonl:2 cannot be read'),
      expect.stringContaining('a_1.jsonl:3: record 2 is missing before this line'),
    ]);
    expect(journal.past.lost).toEqual([{ from: 2, to: 2 }]);
    expect(fs.readFileSync(`${written.journal}.damaged`, 'utf8')).toBe(lines.join('\n'));
    expect(journal.past.records.map(({ seq }) => seq)).toEqual([1, 3]);
    const notice = { letter: 'l_r', text: 'Lost.' };
    const { lost = [] } = journal.past;
    expect(journal.append({ type: 'journal.repaired', lost, damage: [], notice }).seq).toBe(4);
    await session.close();
    const moved = fs.readFileSync(`${written.journal}.corrupt`, 'utf8');
    expect(moved).toBe('ceci n’est pas du JSON\n');
    const again = await reopen(written);
    expect(again.journal.past.damage).toEqual([]);
    expect(again.journal.past.records.map(({ seq }) => seq)).toEqual([1, 3, 4]);
    await again.session.close();
  });
});

describe('a journal with a corrupt last line', () => {
  test('has lost a record, also if the event index does not know of it', async () => {
    const written = await writtenSession();
    fs.appendFileSync(written.journal, 'ceci n’est pas du JSON\n');
    const { session, journal } = await reopen(written);
    expect(journal.past.damage).toEqual([
      expect.stringContaining('a_1.jsonl:4 cannot be read'),
      expect.stringContaining('a_1.jsonl:4: record 4 is missing after the last line'),
    ]);
    const { lost = [] } = journal.past;
    expect(lost).toEqual([{ from: 4, to: 4 }]);
    const notice = { letter: 'l_r', text: 'Lost.' };
    expect(journal.append({ type: 'journal.repaired', lost, damage: [], notice }).seq).toBe(5);
    await session.close();
    const again = await reopen(written);
    expect(again.journal.past.damage).toEqual([]);
    await again.session.close();
  });
});

describe('an owner that has lost the session', () => {
  test('cannot change records of the new owner, and its own new records are dropped', async () => {
    const root = temporaryFolder();
    const old = await sessionFiles(root, { pid: 1 }).create(meta());
    const zombie = await old.journal('a_1', null);
    zombie.append(created);
    const fresh = await sessionFiles(root, { pid: 2 }).open('s_1');
    const journal = await fresh.journal('a_1', null);
    const kept = journal.append(letter('l_1', 'from the new owner'));
    zombie.append(letter('l_2', 'from the old one'));
    const after = journal.append({ type: 'run.started', run: 1 });
    zombie.append(letter('l_3', 'again'));
    const { records, damage } = await sessionFiles(root).readJournal('s_1', 'a_1');
    expect(records.slice(1)).toEqual([kept, after]);
    expect(damage).toEqual([
      expect.stringContaining(':3 was written by an owner that had lost the session'),
      expect.stringContaining(':5 was written by an owner that had lost the session'),
    ]);
  });

  test('leaves records that do not change the numbers of the next owner', async () => {
    const written = await writtenSession();
    const late = { v: 1, seq: 9, ts: 1, epoch: 1, ...letter('l_9') } as never;
    const second = await reopen(written);
    second.journal.append(letter('l_2'));
    await second.session.close();
    fs.appendFileSync(written.journal, `${formatRecord(late)}\n`);
    const third = await reopen(written);
    expect(third.journal.past.records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(third.journal.append(letter('l_3')).seq).toBe(5);
  });
});

describe('files of a newer skein', () => {
  test('are refused with their path: session.json', async () => {
    const { store, folder } = await writtenSession();
    const path = join(folder, 'session.json');
    fs.writeFileSync(path, JSON.stringify({ ...meta(), format: 2 }));
    await expect(store.open('s_1')).rejects.toThrow(
      `${path} was written by a newer skein (format 2); update skein to open it.`,
    );
    expect(await store.list()).toEqual([]);
  });

  test('are refused with their path: a journal', async () => {
    const written = await writtenSession();
    fs.appendFileSync(written.journal, '{"v":2,"seq":4,"type":"something.new"}\n');
    await expect(reopen(written)).rejects.toThrow(
      `${written.journal} was written by a newer skein (journal version 2)`,
    );
  });
});

describe('session.json', () => {
  test.each([
    ['is not JSON', '{"format":1,', 'is not valid JSON'],
    ['lacks a field', JSON.stringify({ ...meta(), cwd: undefined }), 'is damaged at "cwd"'],
    ['is no object', 'null', 'is damaged'],
  ])('that %s is refused with its defect, and not listed', async (_, text, message) => {
    const { store, folder } = await writtenSession();
    fs.writeFileSync(join(folder, 'session.json'), text);
    await expect(store.open('s_1')).rejects.toMatchObject({ code: 'usage' });
    await expect(store.open('s_1')).rejects.toThrow(message);
    expect(await store.list()).toEqual([]);
  });

  test('has the last of several changes that are not awaited', async () => {
    const { root, store } = await writtenSession();
    const session = await store.open('s_1');
    for (const title of ['one', 'two', 'three']) void session.updateMeta({ title });
    await session.close();
    const [listed] = await sessionFiles(root).list();
    expect(listed?.title).toBe('three');
  });
});

describe('the event index', () => {
  const eventsAfter = async (written: Awaited<ReturnType<typeof writtenSession>>) => {
    const { session } = await reopen(written);
    const events = await session.readEvents();
    await session.close();
    return events;
  };

  test('that is missing is rebuilt from the journal, byte for byte', async () => {
    const written = await writtenSession();
    const before = fs.readFileSync(written.events, 'utf8');
    fs.rmSync(written.events);
    expect(await eventsAfter(written)).toHaveLength(3);
    expect(fs.readFileSync(written.events, 'utf8')).toBe(before);
  });

  test('that is truncated at any byte is completed', async () => {
    const written = await writtenSession();
    const bytes = fs.readFileSync(written.events);
    for (let length = 0; length <= bytes.length; length += 7) {
      fs.writeFileSync(written.events, bytes.subarray(0, length));
      await eventsAfter(written);
      expect(fs.readFileSync(written.events)).toEqual(bytes);
    }
  });

  test('with a corrupt line in its middle is rebuilt', async () => {
    const written = await writtenSession();
    const before = fs.readFileSync(written.events, 'utf8');
    const lines = before.split('\n');
    lines[1] = lines[1]?.replace('{', '') ?? '';
    fs.writeFileSync(written.events, lines.join('\n'));
    const events = await eventsAfter(written);
    expect(events.map(({ seq, type }) => [seq, type])).toEqual([
      [1, 'agent.spawned'],
      [2, 'letter.delivered'],
      [3, 'run.started'],
    ]);
  });
});

describe('session files', () => {
  test('are readable by their owner only', async () => {
    const { root, folder } = await writtenSession();
    const session = await sessionFiles(root).open('s_1');
    await session.putArtifact('big.txt', Buffer.from('x'));
    await session.updateMeta({ title: 'T' });
    const modes = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
      const { mode } = fs.statSync(join(folder, name));
      return [name, (mode & 0o777).toString(8), fs.statSync(join(folder, name)).isDirectory()];
    });
    expect(modes.filter(([, mode, isFolder]) => mode !== (isFolder ? '700' : '600'))).toEqual([]);
    expect((fs.statSync(folder).mode & 0o777).toString(8)).toBe('700');
    expect(modes.map(([name]) => name)).toEqual(
      expect.arrayContaining([
        'session.json',
        'events.jsonl',
        'agents/a_1.jsonl',
        'artifacts/big.txt',
      ]),
    );
  });

  test('include no temporary file', async () => {
    const { folder } = await writtenSession();
    const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => /draft|\.tmp$/.test(name))).toEqual([]);
  });

  test('are listed without empty folders and stray files', async () => {
    const { root, store } = await writtenSession();
    fs.mkdirSync(join(root, 'empty'));
    fs.writeFileSync(join(root, 'stray.txt'), '');
    expect((await store.list()).map(({ id }) => id)).toEqual(['s_1']);
  });

  test('can be opened again after a failed open', async () => {
    const { root, folder, events } = await writtenSession();
    fs.rmSync(events);
    fs.mkdirSync(events);
    const store = sessionFiles(root, { alive: ['owner-1'] });
    await expect(store.open('s_1')).rejects.toMatchObject({ code: 'storage' });
    fs.rmdirSync(join(folder, 'events.jsonl'));
    await expect(store.open('s_1')).resolves.toBeDefined();
  });
});
