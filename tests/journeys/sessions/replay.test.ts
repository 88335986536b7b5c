/** The replay of an ended swarm from its event log. */
import { expect, test } from 'vitest';
import { calls, type Scene, setScene } from '../../fakes/skein-process.js';
import { openScreen } from '../../fakes/terminal/tmux-screen.js';
import { needs } from '../../setup/needs.js';

const RUNNER = JSON.stringify({
  runner: { description: 'Runs commands', prompt: 'You run commands.', tools: 'Bash' },
});

const task = { description: 'the long way', prompt: 'job', subagent_type: 'runner' };

/** Runs a session with a lead and a sub-agent to its end. */
const runSwarm = async (): Promise<Scene> => {
  const scene = await setScene([
    { match: { firstUser: 'begin', turn: 0 }, reply: calls('Task', task) },
    { match: { firstUser: 'job', turn: 0 }, reply: calls('Bash', { command: 'echo honk' }) },
    { match: { firstUser: 'job' }, reply: 'It honked.' },
    { reply: 'All is well.' },
  ]);
  const flags = ['--session-id', 'swarm', '--agents', RUNNER, '--allowed-tools', 'Bash(echo:*)'];
  const { code, stderr } = await scene.run(['-p', 'begin', ...flags]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return scene;
};

needs.describe('tmux')('a replay on a terminal', () => {
  test('plays to the end, steps backward and forward, and restores the terminal', async () => {
    const scene = await runSwarm();
    const screen = openScreen(scene, ['replay', 'swarm', '--speed', '1000'], {
      columns: 160,
      rows: 40,
    });
    const end = await screen.shows(/‖ end .* event (\d+) of \1 /);
    expect(end).toMatch(/skein replay +swarm +begin/);
    expect(end).toMatch(/└─runner \w+ +✓ ended/);
    await screen.shows('All is well.');

    // Back to the end of the agent, and then a few events further, where the agent still runs.
    screen.press('N', 'N', 'Down');
    const agentEnded = await screen.shows('It honked.');
    expect(agentEnded).not.toContain('All is well.');
    screen.press(',', ',');
    const before = await screen.shows(/runner \w+ +● streaming/);
    expect(before).toContain('[streaming]');
    await screen.shows(/● Bash echo honk[\s\S]*└ ok[\s\S]*honk/);

    // To the start, then forward slowly with a pause.
    screen.press('Home');
    expect(await screen.shows(/‖ 1000× +●─/)).not.toContain('runner');
    screen.press(...Array<string>(12).fill('-'));
    screen.press('Space');
    await screen.shows('▶ 0.25×');
    screen.press('Space');
    await screen.shows('‖ 0.25×');
    screen.press('End');
    await screen.shows(/‖ end .* event (\d+) of \1 /);
    screen.press('q');
    expect(await screen.ended()).toBe(0);
    expect(screen.text()).not.toContain('skein replay');
  });
});

test('a replay without a terminal prints the log as text or as JSON', async () => {
  const { run } = await runSwarm();
  const { code, stdout } = await run(['replay', 'swarm']);
  const [lines, logged] = [stdout.trimEnd().split('\n'), await run(['logs', 'swarm'])];
  expect([code, stdout]).toEqual([0, logged.stdout]);
  expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}agent \w+ started in /);
  const json = await run(['replay', '--json']);
  expect(json.lines.map(({ seq }) => seq)).toEqual(lines.map((_, at) => at + 1));
});

test('a replay rejects an invalid speed, time or session', async () => {
  const { run } = await setScene();
  for (const [args, words] of [
    [['--speed', 'ludicrous'], 'is not a speed: give a number from 0.25 to 1000'],
    [['--from', 'yesterday'], 'is not a moment of a log'],
    [['s_none'], 'There is no session "s_none"'],
  ] as const) {
    const { code, stderr } = await run(['replay', ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  }
});
