/** Reports of agents on workers to their lead: exactly once, even if letters are lost. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bash, begins, FREE, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { SOON, type WorkerScene, workerScene } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import type { Line, Rules } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

const WAITS = 'touch begun; while [ ! -e go ]; do sleep 0.05; done';

const SCOUT_TASK = helper('Look', { name: 'scout' });
const SCOUT_RULES: Rules = [
  { match: { turn: 0 }, reply: { tool_use: bash(WAITS) } },
  { reply: 'There is a goose.' },
];

/** Number of times that the report is in the last request of the lead. */
const reportCount = ({ bodies }: WorkerScene): number => {
  const last = bodies().findLast(({ messages }) => {
    return JSON.stringify((messages as readonly Line[])[0]).includes('Begin');
  });
  return JSON.stringify(last?.messages).split('There is a goose.').length - 1;
};

needs.describe('redis')('a lead', () => {
  test('gets the report of an ended agent even if the letter is lost', async () => {
    const scene = await workerScene([...begins(SCOUT_TASK), ...SCOUT_RULES], SOON);
    await scene.worker();
    const lead = scene.begin(LEAD);
    await eventually('the call runs', () => existsSync(join(scene.workspace, 'begun')));
    const store = await scene.store();
    const meta = (await store.list()).find(({ id }) => id === 'one');
    // An open inbox has a single reader, so the lead does not get the letter.
    const stolen = await store.mailbox('one').open(meta?.lead ?? '');
    await writeFile(join(scene.workspace, 'go'), '');
    const letter = await stolen.next(new AbortController().signal);
    expect(letter?.id).toMatch(/^end_a_\w+_1$/);
    expect(await lead.ended).toMatchObject({ code: 0, stdout: 'I see.\n' });
    expect(reportCount(scene)).toBe(1);
    // The next lead receives the letter, but the report is not repeated.
    await stolen.close();
    await scene.left('one');
    const resumed = await scene.run(['-p', 'And now?', '--resume', 'one', ...FREE]);
    expect(resumed).toMatchObject({ code: 0, stdout: 'I see.\n' });
    expect(reportCount(scene)).toBe(1);
  });

  test('that waits with TaskOutput gets the report once', async () => {
    const asks = { name: 'TaskOutput', input: { task_id: 'scout', block: true, timeout: 60_000 } };
    const scene = await workerScene([...begins(SCOUT_TASK, { tool_use: asks }), ...SCOUT_RULES]);
    await scene.worker();
    const lead = scene.begin(LEAD);
    await eventually('the call runs', () => existsSync(join(scene.workspace, 'begun')));
    await writeFile(join(scene.workspace, 'go'), '');
    expect(await lead.ended).toMatchObject({ code: 0, stdout: 'I see.\n' });
    expect(reportCount(scene)).toBe(1);
    const resumed = await scene.run(['-p', 'And now?', '--resume', 'one', ...FREE]);
    expect(resumed).toMatchObject({ code: 0, stdout: 'I see.\n' });
    expect(reportCount(scene)).toBe(1);
  });

  test('that polls TaskOutput gets the turns and the cost of an agent on a worker', async () => {
    const asks = { name: 'TaskOutput', input: { task_id: 'scout', block: false } };
    const waits = bash('while [ ! -e begun ]; do sleep 0.05; done');
    const scene = await workerScene([
      ...begins(SCOUT_TASK, ...[waits, asks, bash('touch go')].map((call) => ({ tool_use: call }))),
      ...SCOUT_RULES,
    ]);
    await scene.worker();
    expect(await scene.run(LEAD)).toMatchObject({ code: 0, stdout: 'I see.\n' });
    const sent = JSON.stringify(scene.bodies().at(-1)?.messages);
    expect(sent).toMatch(/scout \S+ \S+ is running \(on a worker\): 1 turn, \$0\.00\d+ so far/);
  });
});
