/** `skein top` on a real terminal with running swarms. */
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { ownRedisServer } from '../../fakes/redis/own-redis-server.js';
import { calls, type Line, setScene } from '../../fakes/skein-process.js';
import { openScreen } from '../../fakes/terminal/tmux-screen.js';
import { needs } from '../../setup/needs.js';

const RUNNER = JSON.stringify({
  runner: { description: 'Runs commands', prompt: 'You run commands.', tools: 'Bash, Read' },
});

const task = (prompt: string, name: string) => ({
  name: 'Task',
  input: {
    description: `the ${prompt}`,
    prompt,
    name,
    subagent_type: 'runner',
    run_in_background: true,
  },
});

/** Starts an agent that waits for a file and then reads its messages, and an agent that never ends. */
const openSwarm = async () => {
  const scene = await setScene([
    {
      match: { firstUser: 'begin', turn: 0 },
      reply: { tool_use: [task('job wait', 'slow'), task('job doomed', 'doomed')] },
    },
    { match: { firstUser: 'begin' }, reply: 'Noted.' },
    {
      match: { firstUser: 'job wait', turn: 0 },
      reply: calls('Bash', { command: 'touch began; until [ -e go ]; do sleep 0.1; done' }),
    },
    {
      match: { firstUser: 'job doomed' },
      reply: { text: 'I was told to', chunkBytes: 4, chunkDelayMs: 600_000 },
    },
    { reply: 'The docs are read.' },
  ]);
  const flags = ['--allowed-tools', 'Bash', '--session-id', 'swarm', '--agents', RUNNER];
  const lead = scene.start(['-p', 'begin', '--output-format', 'json', ...flags]);
  lead.endInput();
  await eventually('an agent runs', () => existsSync(join(scene.workspace, 'began')));
  return { ...scene, lead };
};

const widest = (shown: string) => Math.max(...shown.split('\n').map((line) => line.length));

/** Makes a process throw on SIGUSR2, as a defect would. */
const FRAGILE = `process.on('SIGUSR2', () => { throw new Error('a defect'); });`;

needs.describe('tmux')('skein top', () => {
  test('shows a running swarm at any width, and sends it messages and a stop', async () => {
    const scene = await openSwarm();
    const top = openScreen(scene, ['top'], { columns: 160, rows: 30, after: 'stty -a' });
    await top.shows(/├─slow +● tool-running .* Bash touch began/);
    await top.shows(/└─doomed +● streaming .* the job doomed/);
    expect(top.visible()).toMatch(/^skein top {2}swarm {2}begin +running, pid \d+ /);
    expect(top.modes()).toEqual({ isAlternate: true, isCursorShown: false });

    top.press('?');
    await top.shows(/i +questions that wait for an answer/);
    top.press('q');
    await top.shows('├─slow');

    // The message is in the next request of the agent and in its transcript.
    top.press('j', 'm');
    await top.shows('to slow:');
    top.say('and the docs');
    await top.shows(/slow.* (?:has the message|read)/);
    await writeFile(join(scene.workspace, 'go'), '');
    await top.shows(/├─slow +✓ ended/);
    top.press('Enter');
    await top.shows('The docs are read.');
    expect(top.visible()).toMatch(/> .*and the docs/);
    expect(JSON.stringify(scene.bodies())).toContain('and the docs');
    top.press('q');

    // The stop needs a confirmation.
    await top.shows('└─doomed');
    top.press('j', 'x');
    await top.shows('Stop doomed?');
    top.press('y');
    await top.shows(/└─doomed +✓ stopped/);
    const { swarms } = JSON.parse((await scene.run(['ps', 'swarm', '--json'])).stdout) as Line;
    expect(swarms[0].agents).toMatchObject([{}, { name: 'slow' }, { status: 'stopped' }]);

    for (const [columns, rows] of [
      [60, 20],
      [250, 50],
    ] as const) {
      top.resize(columns, rows);
      const shown = await eventually('the screen is redrawn', () => {
        const text = top.visible();
        const isDrawn = /^skein top[\s\S]*doomed/.test(text) && text.split('\n').length === rows;
        return isDrawn && (columns === 60 || widest(text) > 160) ? text : undefined;
      });
      expect(widest(shown)).toBeLessThanOrEqual(columns);
      expect(shown).toMatch(/^skein top {2}swarm/);
      expect(shown).toMatch(/q leave/);
    }

    top.press('q');
    expect(await top.ended()).toBe(0);
    expect(top.modes()).toEqual({ isAlternate: false, isCursorShown: true });
    await top.shows(/ echo /);
    expect(top.text()).toMatch(/\bicanon\b/);
    await scene.lead.ended;
  });

  test('exits at once while a message is pending, and the agent still receives the message', async () => {
    const scene = await openSwarm();
    const top = openScreen(scene, ['top'], { columns: 160, rows: 30 });
    await top.shows(/├─slow +● tool-running/);
    scene.lead.kill('SIGSTOP');
    top.press('j', 'm');
    await top.shows('to slow:');
    // Sent together, so that `q` arrives before the message can be confirmed.
    top.type('and the docs\rq');
    expect(await top.ended()).toBe(0);
    scene.lead.kill('SIGCONT');
    await writeFile(join(scene.workspace, 'go'), '');
    await eventually('the agent has read the message', () =>
      JSON.stringify(scene.bodies()).includes('and the docs'),
    );
  });

  test('reports a message that cannot be delivered and a session that was removed', async () => {
    const scene = await openSwarm();
    const top = openScreen(scene, ['top', 'swarm'], { columns: 160, rows: 30 });
    await top.shows(/├─slow +● tool-running/);
    const session = join(scene.skeinHome, 'sessions', 'swarm');
    await rm(join(session, 'mail'), { recursive: true });
    await writeFile(join(session, 'mail'), '');
    top.press('m');
    await top.shows(/to lead/);
    top.say('hey');
    await top.shows('is in the way of the mailbox and is not a folder; move it away.');
    scene.lead.kill('SIGKILL');
    await scene.lead.ended;
    await rm(session, { recursive: true });
    await top.shows(/^! The session has been removed; the screen may be outdated$/m);
    await top.shows('├─slow');
    top.press('q');
    expect(await top.ended()).toBe(0);
  });

  test('prints the tree of running agents first with --screen-reader', async () => {
    const scene = await openSwarm();
    const spoken = scene.start(['top', '--screen-reader']);
    await eventually('the tree is printed', () => /slow +tool-running/.test(spoken.stdout));
    spoken.kill('SIGTERM');
    const { stdout } = await spoken.ended;
    expect(stdout).toMatch(/^swarm {2}running, pid \d+/);
    expect(stdout).not.toContain('No swarm is running');
  });

  test('restores the terminal after SIGTERM and after a crash', async () => {
    const scene = await setScene();
    const fragile = join(scene.home, 'fragile.cjs');
    await writeFile(fragile, FRAGILE);
    const open = () =>
      openScreen(scene, ['top'], {
        env: { NO_COLOR: '1', NODE_OPTIONS: `--require=${fragile}` },
        after: 'stty -a',
        columns: 80,
        rows: 24,
      });
    const restored = async (top: ReturnType<typeof open>) => {
      await top.shows(/ echo /);
      expect(top.text()).toMatch(/[^-]\bicanon\b/);
      expect(top.modes()).toEqual({ isAlternate: false, isCursorShown: true });
    };
    const [ended, broken] = [open(), open()];
    for (const top of [ended, broken]) await top.shows('no swarm is running');
    expect(ended.colours()).toEqual([]);
    ended.kill('SIGTERM');
    expect(await ended.ended()).toBe(130);
    await restored(ended);
    broken.kill('SIGUSR2');
    expect(await broken.ended()).toBe(1);
    await broken.shows('a defect');
    await restored(broken);
  });
});

needs.describe('tmux', 'own-redis')('skein top over Redis', () => {
  test('reports that Redis is unreachable and continues after Redis is back', async () => {
    const redis = await ownRedisServer();
    const scene = await setScene([
      {
        match: { turn: 0 },
        reply: calls('Bash', { command: 'touch began; until [ -e go ]; do sleep 0.1; done' }),
      },
      { reply: 'Done.' },
    ]);
    const flags = ['--store', redis.url, '--session-id', 'away'];
    const lead = scene.start(['-p', 'go', '--allowed-tools', 'Bash', ...flags]);
    lead.endInput();
    await eventually('the lead runs', () => existsSync(join(scene.workspace, 'began')));
    const top = openScreen(scene, ['top', 'away', '--store', redis.url], { columns: 100 });
    await top.shows(/lead a_\w+ +● tool-running/);
    await redis.kill();
    await top.shows(/^! .*Redis.*; the screen may be outdated$/m);
    await redis.start();
    await top.shows(/^● 1 running/m);
    await writeFile(join(scene.workspace, 'go'), '');
    await top.shows(/lead a_\w+ +✓ ended/);
    top.press('q');
    expect(await top.ended()).toBe(0);
    await lead.ended;
  });
});

test('skein top without a terminal prints the running swarms once', async () => {
  const scene = await setScene();
  expect(await scene.run(['top'])).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringContaining('No swarm is running'),
  });
  expect(await scene.run(['top', 'nobody'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no session "nobody"'),
  });
  const spoken = scene.start(['top'], { env: { SKEIN_SCREEN_READER: '1' } });
  await eventually('the first line is printed', () =>
    spoken.stdout.includes('No swarm is running yet.'),
  );
  await scene.run(['-p', 'hello', '--session-id', 'short']);
  spoken.kill('SIGINT');
  expect(await spoken.ended).toMatchObject({ code: 0, stderr: '' });
});
