/** Status of agents that wait for a worker, run on a worker, and lose their worker (law 11). */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bash, begins, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { SOON, workerScene } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import { type Rules, STREAM } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

const WAITS = 'while [ ! -e go ]; do sleep 0.05; done';

const RULES: Rules = [
  ...begins(helper('Look')),
  { match: { turn: 0 }, reply: { tool_use: bash(WAITS) } },
  { reply: 'There is a goose.' },
];

/** Start of a line of a lead: time, host and session. */
const STAMP = /^\d{4}-\d\d-\d\dT[\d:.]+Z host=\S+ session=one /;

const NO_WORKER = 'No worker is running, and 1 agent waits. Start a worker with `skein worker`.';

needs.describe('redis')('a background agent', () => {
  test('is shown as queued until a worker takes it, and again after the worker was killed', async () => {
    const scene = await workerScene(RULES, SOON);
    const lead = scene.begin(LEAD);
    await eventually('the missing worker is reported', () => lead.stderr.includes(NO_WORKER));
    const [waiting] = await scene.agents(
      'one',
      'the agent is listed',
      ([agent]) => agent !== undefined,
    );
    const queued = { status: 'queued', state: 'queued', worker: null };
    expect(waiting).toMatchObject({ ...queued, hasLostWorker: false });
    expect((await scene.run(['ps'])).stdout).toContain('1 waits for a worker (`skein worker`)');
    const first = await scene.worker();
    const name = first.stderr.split(' takes up to')[0];
    const [running] = await scene.agents('one', 'the agent runs a call', ([agent]) => {
      return agent?.state === 'tool-running' && agent.calls.length === 1;
    });
    expect(running).toMatchObject({ status: 'running', worker: name });
    expect((await scene.run(['ps'])).stdout).not.toContain('for a worker');
    first.kill('SIGKILL');
    await first.ended;
    const [orphaned] = await scene.agents('one', 'the agent has no worker', ([agent]) => {
      return agent?.status !== 'running';
    });
    expect(orphaned).toMatchObject({ ...queued, calls: [], hasLostWorker: true });
    expect((await scene.run(['ps', 'one'])).stdout).toContain('waits for another worker: its');
    await writeFile(join(scene.workspace, 'go'), '');
    await scene.worker();
    expect(await lead.ended).toMatchObject({ code: 0 });
    expect(lead.stderr.split(NO_WORKER)).toHaveLength(2);
    const lines = lead.stderr.trimEnd().split('\n');
    for (const line of lines) expect(line).toMatch(STAMP);
    const [start] = lines.filter((line) => line.includes(' runs on worker '));
    expect(start?.replace(STAMP, '')).toMatch(new RegExp(`^worker=${name} helper `));
    expect(lines.some((line) => line.includes(' done, '))).toBe(true);
  });

  test('is reported as queued to hosts, and then with the worker that has started it', async () => {
    const scene = await workerScene(RULES, SOON);
    const lead = scene.begin([...LEAD, ...STREAM]);
    const started = await lead.line(({ subtype }) => subtype === 'task_started');
    expect(started).toMatchObject({ is_queued: true });
    const worker = await scene.worker();
    const name = worker.stderr.split(' takes up to')[0];
    const { task_id } = started;
    const taken = await lead.line(({ subtype, worker: by }) => {
      return subtype === 'task_progress' && by !== undefined;
    });
    expect(taken).toMatchObject({ task_id, worker: name });
    expect(Date.parse(String(taken.timestamp))).toBeGreaterThan(
      Date.parse(String(started.timestamp)),
    );
    await writeFile(join(scene.workspace, 'go'), '');
    expect(await lead.ended).toMatchObject({ code: 0 });
  });
});
