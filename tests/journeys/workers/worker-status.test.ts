/** What people see of agents that wait for workers, work on them, and lose them (law 11). */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bash, begins, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { SOON, workerScene } from '../../fakes/agents/worker-scene.js';
import type { Rules } from '../../fakes/skein-process.js';
import { eventually } from '../../host/process/processes.js';
import { needs } from '../../setup/needs.js';

const WAITS = 'while [ ! -e go ]; do sleep 0.05; done';

const RULES: Rules = [
  ...begins(helper('Look')),
  { match: { turn: 0 }, reply: { tool_use: bash(WAITS) } },
  { reply: 'There is a goose.' },
];

const NONE = 'No worker is running, and 1 agent waits. Start a worker with `skein worker`.';

needs.describe('redis')('an agent in the background', () => {
  test('is queued until a worker has it, and again when that is killed', async () => {
    const scene = await workerScene(RULES, SOON);
    const lead = scene.begin(LEAD);
    await eventually('the lead says that there is none', () => lead.stderr.includes(NONE));
    const [waiting] = await scene.agents('one', 'it waits', ([agent]) => agent !== undefined);
    const none = { status: 'queued', state: 'queued', worker: null };
    expect(waiting).toMatchObject({ ...none, hasLostWorker: false });
    expect((await scene.run(['ps'])).stdout).toContain('1 waits for a worker (`skein worker`)');
    const first = await scene.worker();
    const name = first.stderr.split(' takes up to')[0];
    const [atWork] = await scene.agents('one', 'it is in a call', ([agent]) => {
      return agent?.state === 'tool-running' && agent.calls.length === 1;
    });
    expect(atWork).toMatchObject({ status: 'running', worker: name });
    expect((await scene.run(['ps'])).stdout).not.toContain('for a worker');
    first.kill('SIGKILL');
    await first.ended;
    const [left] = await scene.agents('one', 'it is without a worker', ([agent]) => {
      return agent?.status !== 'running';
    });
    expect(left).toMatchObject({ ...none, calls: [], hasLostWorker: true });
    expect((await scene.run(['ps', 'one'])).stdout).toContain('waits for another worker: its');
    await writeFile(join(scene.workspace, 'go'), '');
    await scene.worker();
    expect(await lead.ended).toMatchObject({ code: 0 });
    expect(lead.stderr.split(NONE)).toHaveLength(2);
  });
});
