/** A lead whose writes Redis refuses for good, while agents of it are at work on a worker. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  connectRedis,
  type RedisConnections,
} from '../../../src/store/redis/connection/redis-connections.js';
import { bash, begins, FREE, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { logOf, SOON, workerSceneAt } from '../../fakes/agents/worker-scene.js';
import { ownRedisServer, type RedisServer } from '../../fakes/redis/own-redis-server.js';
import type { Rules } from '../../fakes/skein-process.js';
import { eventually } from '../../host/process/processes.js';
import { needs } from '../../setup/needs.js';

const until = (file: string) =>
  `echo begun >> log; while [ ! -e ${file} ]; do sleep 0.05; done; echo ${file} >> log`;

const RULES: Rules = [
  ...begins(helper('Look'), { tool_use: bash(until('lead')) }),
  { match: { turn: 0 }, reply: { tool_use: bash(until('agent')) } },
  { reply: 'There is a goose.' },
];

const OWN = 'skein:1:{one}:';
/** Letters it may write, and records not. */
const SOME = [`~${OWN}[^e]*`, `~${OWN}epoch`, '~skein:1:{.*'];

const REFUSALS = [
  [
    'may not be written by it',
    {
      begin: (redis: RedisConnections) =>
        redis.call('ACL', 'SETUSER', 'lead', 'resetkeys', ...SOME),
      end: (redis: RedisConnections) => redis.call('ACL', 'SETUSER', 'lead', '~*'),
    },
  ],
  [
    'is something else',
    {
      begin: async (redis: RedisConnections) => {
        await redis.call('RENAME', `${OWN}events`, `${OWN}aside`);
        await redis.call('SET', `${OWN}events`, 'x');
      },
      end: (redis: RedisConnections) => redis.call('RENAME', `${OWN}aside`, `${OWN}events`),
    },
  ],
] as const;

const asLead = ({ socket }: RedisServer) => ({
  env: { SKEIN_REDIS_URL: `unix://lead:secret@${socket}` },
});

needs.describe('own-redis')('a lead whose log', () => {
  test.each(REFUSALS)('%s ends alone, and the next one finds the report', async (_, refusal) => {
    const scene = await workerSceneAt(ownRedisServer(), RULES, SOON);
    const redis = await connectRedis(scene.redis.url);
    onTestFinished(() => redis.close());
    await redis.call('ACL', 'SETUSER', 'lead', 'on', '>secret', '~*', '&*', '+@all');
    await scene.worker();
    const lead = scene.begin(LEAD, asLead(scene.redis));
    await eventually('both are at work', () => logOf(scene).length === 2);
    await refusal.begin(redis);
    await writeFile(join(scene.workspace, 'lead'), '');
    const { code, stderr } = await lead.ended;
    expect(code).toBe(1);
    expect(stderr).toContain('refused the command: ');
    // Nobody was told to stop it.
    const [agent = ''] = (await redis.call('KEYS', `${OWN}lease:a_*`)) as string[];
    expect(agent).not.toBe('');
    const mail = `${OWN}mail:${agent.slice(`${OWN}lease:`.length)}`;
    expect(await redis.call('XLEN', mail)).toBe(0);
    await refusal.end(redis);
    await writeFile(join(scene.workspace, 'agent'), '');
    await scene.agents('one', 'it has ended without a lead', ([one]) => one?.status === 'ended');
    await scene.left('one');
    const next = await scene.run(['-p', 'Go on', '--resume', 'one', ...FREE], asLead(scene.redis));
    expect(next.code).toBe(0);
    expect(JSON.stringify(scene.bodies().at(-1))).toContain('There is a goose.');
    expect(logOf(scene)).toEqual(['begun', 'begun', 'lead', 'agent']);
  });
});
