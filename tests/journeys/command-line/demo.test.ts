import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { maskedLines, readPicture, textOfPicture } from '../../../scripts/demo-picture.js';
import { eventually } from '../../fakes/eventually.js';
import { setScene } from '../../fakes/skein-process.js';
import { isAlive } from '../../host/process/processes.js';
import { needs } from '../../setup/needs.js';

const withoutKey = { env: { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined } };

needs.describe('git')('skein demo', () => {
  test('fixes a failing test with a swarm and no API key, resumes after a kill, and leaves no files', async () => {
    const { run, home, tmp, simulator } = await setScene();
    const { code, stderr, stdout } = await run(['demo', '--json'], withoutKey);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const figures = JSON.parse(stdout);
    expect(figures).toMatchObject({
      testsPass: true,
      stopReason: 'end_turn',
      questions: 1,
      processes: 2,
      letters: 2,
      agents: ['fork code', 'fork tests', 'teammate ada', 'teammate bob', 'tester check'],
      costUsd: expect.any(Number),
      savedShare: expect.any(Number),
    });
    // The changes of both worktrees were merged.
    expect(figures.diff).toMatch(/Math\.ceil.+span\.js.+span\.test\.js/s);
    expect([await readdir(home), await readdir(tmp)]).toEqual([[], []]);
    expect(simulator.requests).toEqual([]);
  });

  test('leaves no files after SIGINT', async () => {
    const { start, tmp } = await setScene();
    const process = start(['demo'], withoutKey);
    await eventually('the first agent runs', () => process.stdout.includes('fork code'));
    process.kill('SIGINT');
    await new Promise((later) => setTimeout(later, 100));
    process.kill('SIGINT');
    await process.ended;
    expect(await readdir(tmp)).toEqual([]);
  });

  test('prints the work of each agent, the question, the kill and the money that the shared prefix saved', async () => {
    const { run } = await setScene();
    const env = { ...withoutKey.env, LANG: 'C.UTF-8' };
    const { code, stdout } = await run(['demo'], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/code +. Read src\/formation\.js/s);
    expect(stdout).toMatch(/bob +. to ada: How are the rows counted\?/s);
    expect(stdout).toMatch(/ada +. to bob: Row 0 is the lead alone/s);
    const pid = /kill -9 (\d+): the process that ran all agents is gone/.exec(stdout)?.[1];
    expect(isAlive(Number(pid))).toBe(false);
    expect(stdout).toMatch(/all agents resume\..+bob +. Write src\/span\.js/s);
    expect(stdout).toMatch(
      /May I\? Bash node --test, for lead.+The scripted person answered yes.+pass 4, fail 0/s,
    );
    expect(stdout).toMatch(/I wait until it reports\..+The tester woke me/s);
    expect(stdout).toMatch(/tests +pass/s);
    expect(stdout).toMatch(/5 agents started with [\d,]+ tokens.+\$\d\.\d+ saved/s);
    expect(stdout).toMatch(/cost +\$\d.+\d+ % saved/s);
    // If this fails, `npm run picture` redraws the picture of the README.
    expect(maskedLines(textOfPicture(readPicture()))).toEqual(maskedLines(stdout));
  });
});
