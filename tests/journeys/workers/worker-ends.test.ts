/** How a lead hears of the end of agents that work on workers: once, whatever becomes of letters. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bash, begins, FREE, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { SOON, type WorkerScene, workerScene } from '../../fakes/agents/worker-scene.js';
import type { Line, Rules } from '../../fakes/skein-process.js';
import { eventually } from '../../host/process/processes.js';
import { needs } from '../../setup/needs.js';

const WAITS = 'touch begun; while [ ! -e go ]; do sleep 0.05; done';

const SCOUT = helper('Look', { name: 'scout' });
const LOOKS: Rules = [
  { match: { turn: 0 }, reply: { tool_use: bash(WAITS) } },
  { reply: 'There is a goose.' },
];

/** How often the lead was told what its agent says. */
const tellings = ({ bodies }: WorkerScene): number => {
  const last = bodies().findLast(({ messages }) => {
    return JSON.stringify((messages as readonly Line[])[0]).includes('Begin');
  });
  return JSON.stringify(last?.messages).split('There is a goose.').length - 1;
};

needs.describe('redis')('a lead', () => {
  test('hears of the end of an agent also when no letter says so', async () => {
    const scene = await workerScene([...begins(SCOUT), ...LOOKS], SOON);
    await scene.worker();
    const lead = scene.begin(LEAD);
    await eventually('it is in a call', () => existsSync(join(scene.workspace, 'begun')));
    const store = await scene.store();
    const meta = (await store.list()).find(({ id }) => id === 'one');
    // Whoever opens it reads it alone.
    const stolen = await store.mailbox('one').open(meta?.lead ?? '');
    await writeFile(join(scene.workspace, 'go'), '');
    const letter = await stolen.next(new AbortController().signal);
    expect(letter?.id).toMatch(/^end_a_\w+_1$/);
    expect(await lead.ended).toMatchObject({ code: 0, stdout: 'I see.\n' });
    expect(tellings(scene)).toBe(1);
    // The letter is still there for whoever leads next, and says nothing new.
    await stolen.close();
    await scene.left('one');
    const again = await scene.run(['-p', 'And now?', '--resume', 'one', ...FREE]);
    expect(again).toMatchObject({ code: 0, stdout: 'I see.\n' });
    expect(tellings(scene)).toBe(1);
  });

  test('that waits for the output of an agent is told once what that says', async () => {
    const asks = { name: 'TaskOutput', input: { task_id: 'scout', block: true, timeout: 60_000 } };
    const scene = await workerScene([...begins(SCOUT, { tool_use: asks }), ...LOOKS]);
    await scene.worker();
    const lead = scene.begin(LEAD);
    await eventually('it is in a call', () => existsSync(join(scene.workspace, 'begun')));
    await writeFile(join(scene.workspace, 'go'), '');
    expect(await lead.ended).toMatchObject({ code: 0, stdout: 'I see.\n' });
    expect(tellings(scene)).toBe(1);
    const again = await scene.run(['-p', 'And now?', '--resume', 'one', ...FREE]);
    expect(again).toMatchObject({ code: 0, stdout: 'I see.\n' });
    expect(tellings(scene)).toBe(1);
  });

  test('that asks how an agent is doing is told what it has done where it is', async () => {
    const asks = { name: 'TaskOutput', input: { task_id: 'scout', block: false } };
    const waits = bash('while [ ! -e begun ]; do sleep 0.05; done');
    const scene = await workerScene([
      ...begins(SCOUT, ...[waits, asks, bash('touch go')].map((call) => ({ tool_use: call }))),
      ...LOOKS,
    ]);
    await scene.worker();
    expect(await scene.run(LEAD)).toMatchObject({ code: 0, stdout: 'I see.\n' });
    const told = JSON.stringify(scene.bodies().at(-1)?.messages);
    expect(told).toMatch(/scout \S+ \S+ is running \(on a worker\): 1 turn, \$0\.00\d+ so far/);
  });
});
