import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/protocol/clock.js';
import { FileTaskList } from '../../../../src/store/files/tasks/file-task-list.js';
import { act, describeWorkList } from '../../contracts/shared-task-list.js';
import { temporaryFolder } from '../../session-folder.js';

describeWorkList('in files', () => {
  const folder = temporaryFolder();
  return { open: () => new FileTaskList(folder, systemClock) };
});

describeWorkList('in files that are put together after every third change', () => {
  const folder = temporaryFolder();
  return { open: () => new FileTaskList(folder, systemClock, 3) };
});

const setUp = (longest?: number) => {
  const folder = temporaryFolder();
  const root = join(folder, 'work');
  const open = () => new FileTaskList(folder, systemClock, longest);
  const add = async (...subjects: readonly string[]) => {
    for (const subject of subjects) await open().create({ subject, description: '' }, act('ann'));
  };
  const subjects = async () => (await open().list()).map(({ subject }) => subject);
  return { folder, root, open, add, subjects };
};

describe('the files of a list of work', () => {
  test('are made by the first change, and open to nobody else', async () => {
    const { folder, root, add, subjects } = setUp();
    expect(await subjects()).toEqual([]);
    expect(fs.readdirSync(folder)).toEqual([]);
    await add('fly', 'land');
    expect(fs.readdirSync(join(root, '1'))).toEqual(['1.json', '2.json']);
    const mode = (path: string) => (fs.statSync(path).mode & 0o777).toString(8);
    expect([root, join(root, '1'), join(root, '1', '1.json')].map(mode)).toEqual([
      '700',
      '700',
      '600',
    ]);
  });

  test('are few, however much is changed', async () => {
    const { root, open, add, subjects } = setUp(3);
    await add('fly');
    for (let at = 0; at < 20; at += 1) {
      await open().update('1', { description: `${at}` }, act('ann'));
    }
    expect(fs.readdirSync(root).sort()).toEqual(['6', '7']);
    expect(fs.readdirSync(join(root, '6'))).toHaveLength(4);
    expect(await subjects()).toEqual(['fly']);
    expect((await open().get('1'))?.version).toBe(21);
  });

  test('may have anything beside them, also in the place of the next one', async () => {
    const { root, add, subjects } = setUp();
    await add('fly');
    fs.writeFileSync(join(root, '1', '2.json'), '{"items": [{"id"');
    fs.symlinkSync('/nowhere', join(root, '1', '3.json'));
    fs.mkdirSync(join(root, '1', '4.json'));
    fs.writeFileSync(
      join(root, '1', '5.json'),
      '{"last": 9, "items": [{"id": "../x"}], "done": []}',
    );
    fs.writeFileSync(join(root, 'notes.draft'), 'half a');
    fs.mkdirSync(join(root, 'elsewhere'));
    await add('land');
    expect(await subjects()).toEqual(['fly', 'land']);
    expect(fs.existsSync(join(root, '1', '6.json'))).toBe(true);
  });

  test('make up for a whole list that is damaged', async () => {
    const { root, add, subjects } = setUp(2);
    await add('a', 'b', 'c');
    expect(fs.readdirSync(root).sort()).toEqual(['1', '2']);
    fs.writeFileSync(join(root, '2', '0.json'), '');
    expect(await subjects()).toEqual(['a', 'b', 'c']);
    await add('d', 'e');
    expect(await subjects()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('are not taken for a change by one who was away while they were put together', async () => {
    const { folder, root, add, subjects } = setUp(2);
    await add('a');
    let calls = 0;
    // Between its decision and its file others change so much that its place is long gone.
    const late = new FileTaskList(
      folder,
      {
        ...systemClock,
        now() {
          calls += 1;
          if (calls === 1) {
            fs.renameSync(join(root, '1'), join(root, '9'));
            const whole = { last: 7, items: [], done: [] };
            fs.writeFileSync(join(root, '9', '0.json'), JSON.stringify(whole));
            fs.rmSync(join(root, '9', '1.json'));
          }
          return 1;
        },
      },
      2,
    );
    expect((await late.create({ subject: 'late', description: '' }, act('bob'))).id).toBe('8');
    expect(await subjects()).toEqual(['late']);
  });

  test('are not made where there is no session, or where something is in their way', async () => {
    const { folder, root, open } = setUp();
    const nobody = new FileTaskList(join(folder, 'gone'), systemClock);
    const order = { subject: 'fly', description: '' };
    await expect(nobody.create(order, act('ann'))).rejects.toMatchObject({ code: 'usage' });
    fs.writeFileSync(root, 'a file');
    await expect(open().create(order, act('ann'))).rejects.toMatchObject({ code: 'storage' });
  });
});
