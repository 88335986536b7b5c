import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { setScene } from '../fakes/skein-process.js';
import { eventually } from '../host/processes.js';

const withoutKey = { env: { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined } };

describe('skein demo', () => {
  test('mends a failing test with a swarm and without a key, and leaves nothing behind', async () => {
    const { run, home, tmp, simulator } = await setScene();
    const { code, stderr, stdout } = await run(['demo', '--json'], withoutKey);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ testsPass: true, stopReason: 'end_turn', turns: 21, calls: 16, questions: 1 },
      agents: [
        ...['explorer code', 'explorer tests', 'explorer words'],
        ...['fork pair', 'fork rows', 'tester check'],
      ],
      costUsd: expect.any(Number),
      savedShare: expect.any(Number),
      diff: expect.stringContaining('Math.ceil'),
    });
    expect([await readdir(home), await readdir(tmp)]).toEqual([[], []]);
    expect(simulator.requests).toEqual([]);
  });

  test('leaves nothing behind when it is told to quit, either', async () => {
    const { start, tmp } = await setScene();
    const process = start(['demo'], withoutKey);
    await eventually('it has begun', () => process.stdout.includes('explorer code'));
    process.kill('SIGINT');
    await new Promise((later) => setTimeout(later, 100));
    process.kill('SIGINT');
    await process.ended;
    expect(await readdir(tmp)).toEqual([]);
  });

  test('shows people who did what, what it cost and what a shared beginning saved', async () => {
    const { run } = await setScene();
    const { code, stdout } = await run(['demo'], withoutKey);
    expect(code).toBe(0);
    expect(stdout).toMatch(/code +. Read src\/formation\.js/);
    expect(stdout).toMatch(/May I\? Bash node --test.+Yes, once.+pass 3, fail 0/s);
    expect(stdout).toMatch(/I rest until it reports\..+The tester woke me/s);
    expect(stdout).toMatch(/tests +pass/);
    expect(stdout).toMatch(/6 agents began with [\d,]+ tokens.+\$\d\.\d+ saved/s);
    expect(stdout).toMatch(/cost +\$\d.+\d+ % saved/s);
  });
});
