import fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { redisConnections } from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { all, created, createdFor, letter, meta } from '../../contracts/records.js';
import { sessionFiles, temporaryFolder } from '../../session-folder.js';
import { redisSessions } from './redis-session-store.js';

const keys = swarmKeys('s_1');

const mirrored = async () => {
  const redis = await redisConnections();
  const folder = temporaryFolder();
  const store = redisSessions(redis, { folder });
  return { redis, folder, store, files: sessionFiles(folder) };
};

needs.describe('redis')('the mirror of a session in Redis', () => {
  test('has the files of the file store, including the records of workers', async () => {
    const { redis, folder, store, files } = await mirrored();
    const session = await store.create(meta());
    (await session.journal('a_1', null)).append(created);
    const workerSession = await redisSessions(redis, { pid: 2 }).openAsWorker('s_1');
    await workerSession.adopt('a_2');
    const journal = await workerSession.journal('a_2', 'a_1');
    journal.append(createdFor('a_2', 'a_1'));
    journal.append(letter('l_1', 'ü'.repeat(400_000)));
    await workerSession.putArtifact('head.json', Buffer.from('{"a":1}'));
    await workerSession.close();
    await session.updateMeta({ title: 'New' });
    await session.close();
    expect(await files.survey()).toEqual(await store.survey());
    expect(await files.agents('s_1')).toEqual(['a_1', 'a_2']);
    for (const agent of ['a_1', 'a_2']) {
      expect(await files.readJournal('s_1', agent)).toEqual(await store.readJournal('s_1', agent));
    }
    expect(await all(files.events('s_1'))).toEqual(await all(store.events('s_1')));
    expect(Buffer.from(await files.readArtifact('s_1', 'head.json')).toString()).toBe('{"a":1}');
    for (const name of ['session.json', 'redis.json', 'events.jsonl', 'agents/a_2.jsonl']) {
      expect(fs.statSync(join(folder, 's_1', name)).mode & 0o777).toBe(0o600);
    }
  });

  test('follows the session while it is open', async () => {
    const { store, files } = await mirrored();
    const session = await store.create(meta());
    const journal = await session.journal('a_1', null);
    journal.append(created);
    const copied = async () => (await files.readJournal('s_1', 'a_1')).records.length;
    await expect.poll(copied, { timeout: 10_000 }).toBe(1);
    journal.append(letter('l_1'));
    await expect.poll(copied, { timeout: 10_000 }).toBe(2);
    await session.close();
  });

  test('appends only new records when the session is opened again', async () => {
    const { folder, store, files } = await mirrored();
    const path = join(folder, 's_1/agents/a_1.jsonl');
    const first = await store.create(meta());
    (await first.journal('a_1', null)).append(created);
    await first.close();
    const { ino } = fs.statSync(path);
    const second = await store.open('s_1');
    (await second.journal('a_1', null)).append(letter('l_1'));
    await second.close();
    expect(fs.statSync(path).ino).toBe(ino);
    expect(await files.readJournal('s_1', 'a_1')).toEqual(await store.readJournal('s_1', 'a_1'));
    expect(await all(files.events('s_1'))).toHaveLength(2);
  });

  test('keeps records that Redis has lost, and reports them to the next owner', async () => {
    const { redis, folder, store, files } = await mirrored();
    const path = join(folder, 's_1/agents/a_1.jsonl');
    const first = await store.create(meta());
    const journal = await first.journal('a_1', null);
    for (const body of [created, letter('l_1'), letter('l_2')]) journal.append(body);
    await first.close();
    for (const list of [keys.journal('a_1'), keys.events]) await redis.call('LTRIM', list, 0, 0);
    const second = await store.open('s_1');
    const again = await second.journal('a_1', null);
    expect(again.past.damage).toEqual([`Redis has lost 2 records that are in ${path}`]);
    again.append(letter('l_3'));
    await second.close();
    expect(fs.readFileSync(`${path}.lost`, 'utf8').split('\n')).toHaveLength(4);
    expect(await files.readJournal('s_1', 'a_1')).toEqual(await store.readJournal('s_1', 'a_1'));
    expect(await all(files.events('s_1'))).toEqual(await all(store.events('s_1')));
  });

  test('cannot be opened as a session of the file store', async () => {
    const { folder, store, files } = await mirrored();
    await (await store.create(meta())).close();
    const refused = `Session s_1 is in Redis, and ${join(folder, 's_1')} is a copy: set SKEIN_REDIS_URL to open it.`;
    await expect(files.open('s_1')).rejects.toMatchObject({ code: 'usage', message: refused });
    await expect(files.create(meta())).rejects.toMatchObject({ code: 'usage', message: refused });
  });

  test('is refused if the file store has a session of that id', async () => {
    const { store, files } = await mirrored();
    await (await files.create(meta())).close();
    await expect(store.create(meta())).rejects.toThrow('exists already as files');
    expect(await store.list()).toEqual([]);
  });

  test('is removed with the session', async () => {
    const { folder, store } = await mirrored();
    await (await store.create(meta())).close();
    await store.remove('s_1');
    expect(fs.readdirSync(folder)).toEqual([]);
  });
});
