/** Law 8 on files: one owner at a time, and what a former owner still writes does not count. */
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readJournal } from '../../../src/store/files/journal/read-journal.js';
import { makePlace, type Place } from '../workspace.js';

const script = {
  rules: [
    { match: { lastUser: 'wait' }, reply: { text: 'never', stall: { afterEvents: 3 } } },
    { reply: 'Answer {{turn}}.' },
  ],
};

const requestArrives = async (place: Place, after: number) => {
  while (place.bodies().length <= after) await new Promise((next) => setTimeout(next, 20));
};

const journalFile = ({ home }: Place, session: string): string => {
  const agents = join(home, '.skein', 'sessions', session, 'agents');
  return join(agents, readdirSync(agents).find((name) => name.endsWith('.jsonl')) ?? '');
};

describe('law 8, one owner', () => {
  let place: Place;
  beforeAll(async () => {
    place = await makePlace(script);
  });
  afterAll(() => place.close());

  test('a second process is refused with the pid of the first, until the first is dead', async () => {
    const running = place.start(['wait', '--session-id', 'owned']);
    await requestArrives(place, 0);
    const second = await place.run(['Me too.', '--resume', 'owned']);
    expect(second.code).toBe(2);
    expect(second.stderr).toContain(`pid ${running.pid}`);
    running.kill('SIGKILL');
    await running.ended;
    const third = await place.run(['Now me.', '--resume', 'owned']);
    expect(third).toMatchObject({ code: 0, stderr: '' });
  });

  test('every owner has a higher epoch than the one before, and its records carry it', async () => {
    await place.run(['Once more.', '--resume', 'owned']);
    const epochs = place
      .journal('owned')
      .flatMap((record) => (record.type === 'epoch.began' ? [record.epoch] : []));
    expect(epochs).toEqual([1, 2, 3]);
    const all = place.journal('owned').map(({ epoch }) => epoch);
    expect(all).toEqual([...all].sort((a, b) => a - b));
  });

  test('catches what a former owner wrote after it had lost the session', async () => {
    const file = journalFile(place, 'owned');
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
    const after = await place.run(['Still fine?', '--resume', 'owned']);
    expect(after.code).toBe(0);
    expect(after.stderr).toContain('had lost the session');
  });
});
