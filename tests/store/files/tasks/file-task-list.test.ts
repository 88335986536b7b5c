import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/protocol/clock.js';
import { FileTaskList } from '../../../../src/store/files/tasks/file-task-list.js';
import { actionBy, describeTaskList } from '../../contracts/shared-task-list.js';
import { temporaryFolder } from '../../session-folder.js';

describeTaskList('in files', () => {
  const folder = temporaryFolder();
  return { open: () => new FileTaskList(folder, systemClock) };
});

describeTaskList('in files that are merged after every third change', () => {
  const folder = temporaryFolder();
  return { open: () => new FileTaskList(folder, systemClock, 3) };
});

const setUp = (maxChanges?: number) => {
  const folder = temporaryFolder();
  const root = join(folder, 'work');
  const open = () => new FileTaskList(folder, systemClock, maxChanges);
  const add = async (...subjects: readonly string[]) => {
    for (const subject of subjects)
      await open().create({ subject, description: '' }, actionBy('ann'));
  };
  const subjects = async () => (await open().list()).map(({ subject }) => subject);
  return { folder, root, open, add, subjects };
};

describe('the files of a shared task list', () => {
  test('are created by the first change, readable by the owner only', async () => {
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

  test('stay few after many changes', async () => {
    const { root, open, add, subjects } = setUp(3);
    await add('fly');
    for (let at = 0; at < 20; at += 1) {
      await open().update('1', { description: `${at}` }, actionBy('ann'));
    }
    expect(fs.readdirSync(root).sort()).toEqual(['6', '7']);
    expect(fs.readdirSync(join(root, '6'))).toHaveLength(4);
    expect(await subjects()).toEqual(['fly']);
    expect((await open().get('1'))?.version).toBe(21);
  });

  test('may have damaged files, links and folders beside them, also at the next path', async () => {
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

  test('restore the list if the merged file is damaged', async () => {
    const { root, add, subjects } = setUp(2);
    await add('a', 'b', 'c');
    expect(fs.readdirSync(root).sort()).toEqual(['1', '2']);
    fs.writeFileSync(join(root, '2', '0.json'), '');
    expect(await subjects()).toEqual(['a', 'b', 'c']);
    await add('d', 'e');
    expect(await subjects()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('accept a change of a slow process after they were merged', async () => {
    const { folder, root, add, subjects } = setUp(2);
    await add('a');
    let calls = 0;
    // Between its decision and its write, other processes merge the files, so its path no longer exists.
    const slow = new FileTaskList(
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
    expect((await slow.create({ subject: 'late', description: '' }, actionBy('bob'))).id).toBe('8');
    expect(await subjects()).toEqual(['late']);
  });

  test('are not created without a session, or if a file is in the way', async () => {
    const { folder, root, open } = setUp();
    const withoutSession = new FileTaskList(join(folder, 'gone'), systemClock);
    const task = { subject: 'fly', description: '' };
    await expect(withoutSession.create(task, actionBy('ann'))).rejects.toMatchObject({
      code: 'usage',
    });
    fs.writeFileSync(root, 'a file');
    await expect(open().create(task, actionBy('ann'))).rejects.toMatchObject({ code: 'storage' });
  });
});
