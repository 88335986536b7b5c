/** The setting `skein.sandbox` in the built program, with and without bubblewrap. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { type Rules, resultsIn, type Scene, STREAM, setScene } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

const rulesFor = (command: string): Rules => [
  { match: { turn: 0 }, reply: { tool_use: [{ name: 'Bash', input: { command } }] } },
  { reply: 'Done.' },
];
const FLAGS = ['--permission-mode', 'bypassPermissions', ...STREAM];
const sandboxEnv = (mode: string) => ({ SKEIN_SANDBOX: mode, IS_SANDBOX: '1' });
const toolResults = (scene: Scene) => JSON.stringify(resultsIn(scene.bodies()[1]));

needs.describe('bwrap')('a command of a sandboxed run', () => {
  test('can write only to the workspace', async () => {
    const scene = await setScene(
      rulesFor('echo a > in.txt; echo b > ../out.txt; touch /usr/skein-was-here'),
    );
    const { code, stderr } = await scene.run(['-p', 'go', ...FLAGS], {
      env: sandboxEnv('required'),
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(toolResults(scene)).toContain('Read-only file system');
    expect(readFileSync(join(scene.workspace, 'in.txt'), 'utf8')).toBe('a\n');
    expect(existsSync(join(scene.root, 'out.txt'))).toBe(false);
  }, 30_000);

  test('is killed with all its processes when Skein is killed', async () => {
    const beating = 'setsid sh -c "while :; do date +%s%N > beat; sleep 0.05; done" & sleep 600';
    const scene = await setScene(rulesFor(beating));
    const beat = () => readFileSync(join(scene.workspace, 'beat'), 'utf8');
    const skein = scene.start(['-p', 'go', ...FLAGS], { env: sandboxEnv('required') });
    skein.endInput();
    await eventually('the heartbeat file exists', () => existsSync(join(scene.workspace, 'beat')));
    skein.kill('SIGKILL');
    await skein.ended;
    let last = '';
    let still = 0;
    await eventually('the heartbeat has stopped', () => {
      still = beat() === last ? still + 1 : 0;
      last = beat();
      return still === 10;
    });
    expect(beat()).toBe(last);
  }, 30_000);
});

test('a run that requires a sandbox fails without bubblewrap and says how to install it', async () => {
  const scene = await setScene(rulesFor('echo a'));
  const env = { ...sandboxEnv('required'), PATH: '/nowhere' };
  const { code, stderr } = await scene.run(['-p', 'go', ...FLAGS], { env });
  expect(code).toBe(2);
  expect(stderr).toMatch(/"required", but there is no sandbox: bubblewrap.*Install bubblewrap/);
  expect(scene.bodies()).toEqual([]);
}, 30_000);

test('a run with sandbox mode auto runs without bubblewrap and prints a single warning', async () => {
  const scene = await setScene(rulesFor('echo a'));
  const env = { ...sandboxEnv('auto'), PATH: '/nowhere' };
  const { code, stderr } = await scene.run(['-p', 'go', ...FLAGS], { env });
  expect(code).toBe(0);
  expect(stderr.match(/Commands run without a sandbox: bubblewrap/g)).toHaveLength(1);
}, 30_000);
