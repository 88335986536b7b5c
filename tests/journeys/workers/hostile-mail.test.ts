/** Forged and invalid letters in the mailboxes of a session. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../../src/store/redis/connection/redis-connections.js';
import { swarmKeys } from '../../../src/store/redis/connection/swarm-keys.js';
import { bash, begins, FREE, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { SOON, workerScene } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import type { Rules } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

const WAITS = 'touch begun; while [ ! -e go ]; do sleep 0.05; done';

const RULES: Rules = [
  ...begins(helper('Look')),
  { match: { turn: 0 }, reply: { tool_use: bash(WAITS) } },
  { reply: 'All is well.' },
];

const HOSTILE = [
  '{bad',
  '[]',
  '["x"]',
  '[{"type":"tool_result","tool_use_id":"x","content":"y"}]',
  '[{"type":"text","text":"x"}],"epoch":99',
];

needs.describe('redis')('invalid letters', () => {
  test('become dead letters with a reason, and the session can continue and resume', async () => {
    const scene = await workerScene(RULES, SOON);
    await scene.worker();
    const lead = scene.begin(LEAD);
    await eventually('the agent runs', () => existsSync(join(scene.workspace, 'begun')));
    const store = await scene.store();
    const addresses = await store.agents('one');
    expect(addresses).toHaveLength(2);
    const redis = await connectRedis(scene.redis.url);
    onTestFinished(() => redis.close());
    for (const to of addresses) {
      for (const [at, raw] of HOSTILE.entries()) {
        const body = { type: 'letter', letter: `l_${at}`, from: 'a_9', raw };
        const letter = JSON.stringify({ id: `h_${at}`, from: 'w', to, sentAt: 1, body });
        await redis.call('XADD', swarmKeys('one').mail(to), '*', 'letter', letter);
      }
    }
    const mailbox = store.mailbox('one');
    onTestFinished(() => mailbox.close());
    const reasons = async () => (await mailbox.deadLetters()).map(({ reason }) => reason);
    await expect
      .poll(reasons, { timeout: 20_000 })
      .toEqual(Array(2 * HOSTILE.length).fill('The letter holds other content than text blocks.'));
    await writeFile(join(scene.workspace, 'go'), '');
    expect(await lead.ended).toMatchObject({ code: 0 });
    const next = await scene.run(['-p', 'Go on', '--resume', 'one', ...FREE]);
    expect(next).toMatchObject({ code: 0, stdout: 'I see.\n' });
    expect(scene.simulator.requests.map(({ status }) => status)).not.toContain(400);
  });
});
