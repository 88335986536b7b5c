/** Two terminals on a swarm: the session itself, and `skein top` that shows it and answers questions. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownRedisServer } from '../../fakes/redis/own-redis-server.js';
import { redisServer } from '../../fakes/redis/redis-server.js';
import { calls, type Rules, setScene } from '../../fakes/skein-process.js';
import { expectGolden } from '../../fakes/terminal/golden.js';
import { openScreen } from '../../fakes/terminal/tmux-screen.js';
import { needs } from '../../setup/needs.js';

const TASK = { description: 'look around', prompt: 'Look around.', subagent_type: 'implementer' };

/** An agent creates a file, then streams slowly. */
const RULES: Rules = [
  {
    match: { firstUser: 'Look around.', toolResult: '/./' },
    reply: { text: `I see ${'more and '.repeat(200)}more.`, chunkBytes: 9, chunkDelayMs: 80 },
  },
  { match: { firstUser: 'Look around.' }, reply: calls('Bash', { command: 'touch seen' }) },
  { match: { toolResult: '/./' }, reply: 'It has been seen.' },
  { reply: calls('Task', { ...TASK, name: 'ada' }) },
];

/** Longer than the time in which a new question ignores keys. */
const KEY_DELAY_MS = 500;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const SIZE = { columns: 150, rows: 36 };

const openBothScreens = async (flags: readonly string[]) => {
  const scene = await setScene(RULES);
  const session = openScreen(scene, ['--trust', '--session-id', 'ours', ...flags, 'go'], SIZE);
  await session.shows('asks to use Bash');
  const top = openScreen(scene, ['top', 'ours', ...flags], SIZE);
  await top.shows('1 question waits for you: i answers');
  top.press('i');
  await top.shows('1 question waiting');
  return { scene, session, top };
};

needs.describe('tmux')('a question of an agent', () => {
  test('that is answered in skein top disappears from the session', async () => {
    const { scene, session, top } = await openBothScreens([]);
    await expectGolden(top.visible(), 'top-inbox');
    await pause(KEY_DELAY_MS);
    top.press('Enter');
    await top.shows(/Allowed: Bash of a_\w+\./);
    await session.shows(/ada: streaming/);
    expect(session.visible()).not.toContain('asks to use Bash');
    expect(existsSync(join(scene.workspace, 'seen'))).toBe(true);

    // In the process of the agent, the transcript grows during the stream.
    session.press('C-s');
    await session.shows(/the swarm {2}ours/);
    session.press('j');
    const shownWords = () => (session.visible().match(/\bmore\b/g) ?? []).length;
    const before = shownWords();
    await expect.poll(shownWords, { timeout: 10_000 }).toBeGreaterThan(before);
    expect(session.visible()).toMatch(/ada +● streaming/);
    session.press('q');
    await session.shows(/^> go$/m);
    session.press('Escape');
    await session.shows('Interrupted.');
  });

  test('that is answered in the session disappears from skein top', async () => {
    const { session, top } = await openBothScreens([]);
    await pause(KEY_DELAY_MS);
    session.press('Tab');
    await pause(KEY_DELAY_MS);
    session.press('Enter');
    await top.shows('0 questions waiting');
  });
});

needs.describe('tmux', 'redis')('a question of an agent whose session is in Redis', () => {
  test('can be denied in skein top', async () => {
    const { url } = await redisServer();
    const { session, top, scene } = await openBothScreens(['--store', url]);
    await pause(KEY_DELAY_MS);
    top.press('d', 'Enter');
    await top.shows('Why not?');
    top.say('not today');
    await top.shows(/Denied: Bash of a_\w+\./);
    await session.shows(/ada: streaming/);
    expect(existsSync(join(scene.workspace, 'seen'))).toBe(false);
    session.press('Escape');
    await session.shows('Interrupted.');
    session.press('C-d');
    expect(await session.ended()).toBe(0);
  });
});

needs.describe('tmux', 'own-redis')('a session whose Redis was killed', () => {
  test('exits on SIGTERM and reports that its store could not be closed', async () => {
    const redis = await ownRedisServer();
    const scene = await setScene([{ reply: 'Hello.' }]);
    const session = openScreen(scene, ['--trust', '--store', redis.url, 'go'], SIZE);
    await session.shows('Hello.');
    await redis.kill();
    session.kill('SIGTERM');
    expect(await session.ended()).toBe(130);
    expect(session.text()).toContain('could not be closed in its store');
  });
});
