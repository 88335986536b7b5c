/** Keys of a wrong type: a run ends with a sentence that names the key, and never waits without end. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../../src/store/redis/connection/redis-connections.js';
import { swarmKeys } from '../../../src/store/redis/connection/swarm-keys.js';
import { keysOfAgent, sharedKeys } from '../../../src/store/redis/connection/wrong-type.js';
import { bash, begins, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { logOf, SOON, workerSceneAt } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import { ownRedisServer } from '../../fakes/redis/own-redis-server.js';
import type { Rules } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';
import { IS_WIDE } from '../../setup/wide.js';

const RULES: Rules = [
  ...begins(helper('Look')),
  {
    match: { firstUser: 'Look', turn: 0 },
    reply: { tool_use: bash('echo begun >> log; while [ ! -e go ]; do sleep 0.02; done') },
  },
  { match: { firstUser: 'Look' }, reply: 'There is a goose.' },
];

const KEYS = swarmKeys('one');
/** `AGENT` stands for the id of the agent, `LEAD` for the id of the lead. */
const ALL = [
  ...sharedKeys(KEYS),
  ...['AGENT', 'LEAD'].flatMap((agent) => keysOfAgent(KEYS, agent)),
];
const SOME = [
  [KEYS.journal('AGENT'), 'running'],
  [KEYS.fences, 'queued'],
  [KEYS.journal('LEAD'), 'queued'],
] as const;

/** A script, so that the lead finds no missing key. */
const SPOIL = {
  name: 'spoilKey',
  lua: `
    if redis.call('TYPE', KEYS[1]).ok ~= 'string' then return redis.call('SET', KEYS[1], 'x') end
    redis.call('DEL', KEYS[1])
    return redis.call('RPUSH', KEYS[1], 'x')`,
};

needs.describe('own-redis')('a key of a wrong type', () => {
  const cases = ALL.flatMap((key) => ['queued', 'running'].map((when) => [key, when] as const));
  test.each(IS_WIDE ? cases : SOME)('(%s) ends the lead of a %s agent', async (name, when) => {
    const scene = await workerSceneAt(ownRedisServer(), RULES, SOON);
    if (when === 'running') await scene.worker();
    const lead = scene.begin([...LEAD, '--output-format', 'json']);
    const redis = await connectRedis(scene.redis.url);
    onTestFinished(() => redis.close());
    const sessions = await scene.store();
    while ((await sessions.jobs.list('one')).length === 0) await sessions.agents('one');
    if (when === 'running') await eventually('the agent runs', () => logOf(scene).length > 0);
    const { lead: leadId } = JSON.parse(String(await redis.call('GET', KEYS.meta)));
    const agent = (await sessions.agents('one')).find((id) => id !== leadId);
    const key = name.replace('AGENT', agent ?? '').replace('LEAD', leadId);
    await redis.run(SPOIL, [key], []);
    if (when === 'queued') scene.begin(['worker']);
    await writeFile(join(scene.workspace, 'go'), '');
    const { code, result } = await lead.ended;
    // A run that does not need the key any more may succeed.
    expect(result.result).toContain(code === 0 ? 'I see.' : `The key ${key} in Redis`);
    expect(logOf(scene).length).toBeLessThan(2);
  });
});
