/**
 * Law 8 with the file store: one owner at a time, and later writes of a former owner do not count.
 */
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readJournal } from '../../../src/store/files/journal/read-journal.js';
import { openPrintScene, type PrintScene } from '../workspace.js';

const script = {
  rules: [
    { match: { lastUser: 'wait' }, reply: { text: 'never', stall: { afterEvents: 3 } } },
    { reply: 'Answer {{turn}}.' },
  ],
};

const requestArrives = async (scene: PrintScene, after: number) => {
  while (scene.bodies().length <= after) await new Promise((next) => setTimeout(next, 20));
};

const journalFile = ({ home }: PrintScene, session: string): string => {
  const agents = join(home, '.skein', 'sessions', session, 'agents');
  return join(agents, readdirSync(agents).find((name) => name.endsWith('.jsonl')) ?? '');
};

describe('law 8, one owner', () => {
  let scene: PrintScene;
  beforeAll(async () => {
    scene = await openPrintScene(script);
  });
  afterAll(() => scene.close());

  test('a second process is rejected with the pid of the first, until the first is dead', async () => {
    const running = scene.start(['wait', '--session-id', 'owned']);
    await requestArrives(scene, 0);
    const second = await scene.run(['Me too.', '--resume', 'owned']);
    expect(second.code).toBe(2);
    expect(second.stderr).toContain(`pid ${running.pid}`);
    running.kill('SIGKILL');
    await running.ended;
    const third = await scene.run(['Now me.', '--resume', 'owned']);
    expect(third).toMatchObject({ code: 0, stderr: '' });
  });

  test('every owner has a higher epoch than the previous owner, and its records have that epoch', async () => {
    await scene.run(['Once more.', '--resume', 'owned']);
    const epochs = scene
      .journal('owned')
      .flatMap((record) => (record.type === 'epoch.began' ? [record.epoch] : []));
    expect(epochs).toEqual([1, 2, 3]);
    const all = scene.journal('owned').map(({ epoch }) => epoch);
    expect(all).toEqual([...all].sort((a, b) => a - b));
  });

  test('catches records of a former owner that had lost the session', async () => {
    const file = journalFile(scene, 'owned');
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const zombie = lines.find(
      (line) => line.includes('"epoch":1') && line.includes('letter.received'),
    );
    appendFileSync(file, `${zombie}\n`);
    const { records, damage } = readJournal([...lines, zombie ?? ''], file);
    expect(records).toHaveLength(lines.length);
    expect(damage).toEqual([
      `${file}:${lines.length + 1} was written by an owner that had lost the session`,
    ]);
    const after = await scene.run(['Still fine?', '--resume', 'owned']);
    expect(after.code).toBe(0);
    expect(after.stderr).toContain('had lost the session');
  });
});
