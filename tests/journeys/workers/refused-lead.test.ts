/** A lead whose writes Redis refuses permanently while its agent runs on a worker. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  connectRedis,
  type RedisConnections,
} from '../../../src/store/redis/connection/redis-connections.js';
import { bash, begins, FREE, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { logOf, SOON, workerSceneAt } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import { ownRedisServer, type RedisServer } from '../../fakes/redis/own-redis-server.js';
import type { Rules } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

const until = (file: string) =>
  `echo begun >> log; while [ ! -e ${file} ]; do sleep 0.05; done; echo ${file} >> log`;

const RULES: Rules = [
  ...begins(helper('Look'), { tool_use: bash(until('lead')) }),
  { match: { turn: 0 }, reply: { tool_use: bash(until('agent')) } },
  { reply: 'There is a goose.' },
];

const PREFIX = 'skein:1:{one}:';
/** Key patterns that let the lead write letters but no events. */
const ALLOWED_KEYS = [`~${PREFIX}[^e]*`, `~${PREFIX}epoch`, '~skein:1:{.*'];

const REFUSALS = [
  [
    'is not writable',
    {
      begin: (redis: RedisConnections) =>
        redis.call('ACL', 'SETUSER', 'lead', 'resetkeys', ...ALLOWED_KEYS),
      end: (redis: RedisConnections) => redis.call('ACL', 'SETUSER', 'lead', '~*'),
    },
  ],
  [
    'has the wrong Redis type',
    {
      begin: async (redis: RedisConnections) => {
        await redis.call('RENAME', `${PREFIX}events`, `${PREFIX}aside`);
        await redis.call('SET', `${PREFIX}events`, 'x');
      },
      end: (redis: RedisConnections) => redis.call('RENAME', `${PREFIX}aside`, `${PREFIX}events`),
    },
  ],
] as const;

const asLead = ({ socket }: RedisServer) => ({
  env: { SKEIN_REDIS_URL: `unix://lead:secret@${socket}` },
});

needs.describe('own-redis')('a lead whose event log', () => {
  test.each(REFUSALS)(
    '%s exits without its agent, and the next lead gets the report',
    async (_, refusal) => {
      const scene = await workerSceneAt(ownRedisServer(), RULES, SOON);
      const redis = await connectRedis(scene.redis.url);
      onTestFinished(() => redis.close());
      await redis.call('ACL', 'SETUSER', 'lead', 'on', '>secret', '~*', '&*', '+@all');
      await scene.worker();
      const lead = scene.begin(LEAD, asLead(scene.redis));
      await eventually('both calls run', () => logOf(scene).length === 2);
      await refusal.begin(redis);
      await writeFile(join(scene.workspace, 'lead'), '');
      const { code, stderr } = await lead.ended;
      expect(code).toBe(1);
      expect(stderr).toMatch(/ refused the command: |The key skein:1:\{one\}:events in Redis at /);
      // The agent did not receive a stop.
      const [lease = ''] = (await redis.call('KEYS', `${PREFIX}lease:a_*`)) as string[];
      expect(lease).not.toBe('');
      const mail = `${PREFIX}mail:${lease.slice(`${PREFIX}lease:`.length)}`;
      expect(await redis.call('XLEN', mail)).toBe(0);
      await refusal.end(redis);
      await writeFile(join(scene.workspace, 'agent'), '');
      await scene.agents(
        'one',
        'the agent has ended without a lead',
        ([agent]) => agent?.status === 'ended',
      );
      await scene.left('one');
      const next = await scene.run(
        ['-p', 'Go on', '--resume', 'one', ...FREE],
        asLead(scene.redis),
      );
      expect(next.code).toBe(0);
      expect(JSON.stringify(scene.bodies().at(-1))).toContain('There is a goose.');
      expect(logOf(scene)).toEqual(['begun', 'begun', 'lead', 'agent']);
    },
  );
});
