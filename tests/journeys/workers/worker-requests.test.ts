/** Model requests of all processes with the same API key share the request slots and the rate limit. */
import { expect, test } from 'vitest';
import { begins, HELPERS, helper } from '../../fakes/agents/worker-lead.js';
import { type WorkerScene, workerScene } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import type { Line, Reply } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

/** An agent on a worker has sent a request, and the lead of another session starts. */
const startBoth = async (reply: Reply, slots: number, more: Record<string, string> = {}) => {
  const goose = helper('Count geese', { name: 'goose' });
  const scene = await workerScene(
    [
      ...begins(goose),
      { match: { firstUser: 'Count geese' }, reply },
      { match: { firstUser: 'Hello' }, reply: 'Good day.' },
    ],
    { SKEIN_MAX_CONCURRENT_REQUESTS: String(slots) },
  );
  await scene.worker();
  scene.begin(['-p', 'Begin', '--session-id', 'geese', '--agents', HELPERS]);
  await eventually('the agent has sent a request', () => sent(scene, 'Count geese') === 1);
  const other = scene.begin(['-p', 'Hello', '--session-id', 'hello'], { env: more });
  return { scene, other };
};

const sent = ({ bodies }: WorkerScene, prompt: string): number =>
  bodies().filter(({ messages }) => JSON.stringify(messages[0]).includes(prompt)).length;

const waitsFor = async (scene: WorkerScene): Promise<unknown> => {
  const { swarms = [] } = await scene.json('ps', 'hello');
  return (swarms as readonly Line[])[0]?.agents[0]?.waitsFor;
};

const SLOW = { text: 'I am slow.', chunkBytes: 4, chunkDelayMs: 600_000 };

needs.describe('redis')('the requests of several processes', () => {
  test('share the slots for requests in flight', async () => {
    const { scene, other } = await startBoth(SLOW, 1);
    await expect.poll(() => waitsFor(scene), { timeout: 20_000 }).toBe('requests');
    expect(sent(scene, 'Hello')).toBe(0);
    await scene.run(['stop', 'goose']);
    expect(await other.ended).toMatchObject({ code: 0, stdout: 'Good day.\n' });
  });

  test('all wait for a rate limit that a single process received', async () => {
    const { scene } = await startBoth({ error: { status: 429, retryAfter: 600 } }, 8);
    await expect.poll(() => waitsFor(scene), { timeout: 20_000 }).toBe('rate-limit');
    expect(sent(scene, 'Hello')).toBe(0);
  });

  test('are independent if their API keys differ', async () => {
    const { other } = await startBoth(SLOW, 1, { ANTHROPIC_API_KEY: 'of-somebody-else' });
    expect(await other.ended).toMatchObject({ code: 0, stdout: 'Good day.\n' });
  });
});
