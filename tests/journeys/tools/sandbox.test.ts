/** The setting `skein.sandbox` in the built program: used where there is one, said where there is none. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Rules, resultsIn, type Scene, STREAM, setScene } from '../../fakes/skein-process.js';
import { eventually } from '../../host/process/processes.js';
import { needs } from '../../setup/needs.js';

const runs = (command: string): Rules => [
  { match: { turn: 0 }, reply: { tool_use: [{ name: 'Bash', input: { command } }] } },
  { reply: 'Done.' },
];
const FLAGS = ['--permission-mode', 'bypassPermissions', ...STREAM];
const caged = (mode: string) => ({ SKEIN_SANDBOX: mode, IS_SANDBOX: '1' });
const said = (scene: Scene) => JSON.stringify(resultsIn(scene.bodies()[1]));

needs.describe('bwrap')('a command of a sandboxed run', () => {
  test('is kept in the workspace', async () => {
    const scene = await setScene(
      runs('echo a > in.txt; echo b > ../out.txt; touch /usr/skein-was-here'),
    );
    const { code, stderr } = await scene.run(['-p', 'go', ...FLAGS], { env: caged('required') });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(said(scene)).toContain('Read-only file system');
    expect(readFileSync(join(scene.workspace, 'in.txt'), 'utf8')).toBe('a\n');
    expect(existsSync(join(scene.root, 'out.txt'))).toBe(false);
  }, 30_000);

  test('leaves nothing behind when its owner is killed', async () => {
    const beating = 'setsid sh -c "while :; do date +%s%N > beat; sleep 0.05; done" & sleep 600';
    const scene = await setScene(runs(beating));
    const beat = () => readFileSync(join(scene.workspace, 'beat'), 'utf8');
    const skein = scene.start(['-p', 'go', ...FLAGS], { env: caged('required') });
    skein.endInput();
    await eventually('the command beats', () => existsSync(join(scene.workspace, 'beat')));
    skein.kill('SIGKILL');
    await skein.ended;
    let last = '';
    let still = 0;
    await eventually('the command no longer beats', () => {
      still = beat() === last ? still + 1 : 0;
      last = beat();
      return still === 10;
    });
    expect(beat()).toBe(last);
  }, 30_000);
});

test('a run that must have one does not begin without it, and says what to do', async () => {
  const scene = await setScene(runs('echo a'));
  const env = { ...caged('required'), PATH: '/nowhere' };
  const { code, stderr } = await scene.run(['-p', 'go', ...FLAGS], { env });
  expect(code).toBe(2);
  expect(stderr).toMatch(/"required", but there is no sandbox: bubblewrap.*Install bubblewrap/);
  expect(scene.bodies()).toEqual([]);
}, 30_000);

test('a run that would like one goes on without it, and says so once', async () => {
  const scene = await setScene(runs('echo a'));
  const env = { ...caged('auto'), PATH: '/nowhere' };
  const { code, stderr } = await scene.run(['-p', 'go', ...FLAGS], { env });
  expect(code).toBe(0);
  expect(stderr.match(/Commands run without a sandbox: bubblewrap/g)).toHaveLength(1);
}, 30_000);
