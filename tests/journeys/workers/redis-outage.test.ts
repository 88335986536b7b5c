/** A Redis outage while a lead and a worker run. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  connectRedis,
  type RedisArgument,
} from '../../../src/store/redis/connection/redis-connections.js';
import { bash, begins, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { logOf, type WorkerScene, workerSceneAt } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import { ownRedisServer, type RedisServer } from '../../fakes/redis/own-redis-server.js';
import { type Line, type Rules, STREAM } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

const WAITS = 'echo begun >> log; while [ ! -e go ]; do sleep 0.05; done; echo gone >> log';

const RULES: Rules = [
  // The lead runs a call during the outage.
  ...begins(helper('Look'), { tool_use: bash(WAITS) }),
  { match: { turn: 0 }, reply: { tool_use: bash(WAITS) } },
  { reply: 'There is a goose.' },
];

const runCommand = async (
  { url }: RedisServer,
  ...command: readonly [string, ...RedisArgument[]]
) => {
  const redis = await connectRedis(url);
  await redis.call(...command);
  await redis.close();
};

const AWAY = /Redis .*: all agents wait\./;
const BACK = 'Redis is back: all agents continue.';

const OUTAGES = [
  [
    'is killed and restarted',
    {
      begin: ({ redis }: WorkerScene<RedisServer>) => redis.kill(),
      end: ({ redis }: WorkerScene<RedisServer>) => redis.start(),
    },
  ],
  [
    'does not reply for a while',
    {
      begin: ({ redis }: WorkerScene<RedisServer>) => redis.kill('SIGSTOP'),
      end: ({ redis }: WorkerScene<RedisServer>) => redis.kill('SIGCONT'),
    },
  ],
  [
    'has no memory for a while',
    {
      begin: ({ redis }: WorkerScene<RedisServer>) =>
        runCommand(redis, 'CONFIG', 'SET', 'maxmemory', 1),
      end: ({ redis }: WorkerScene<RedisServer>) =>
        runCommand(redis, 'CONFIG', 'SET', 'maxmemory', 0),
    },
  ],
  [
    'rejects writes after a failover',
    {
      begin: ({ redis }: WorkerScene<RedisServer>) =>
        runCommand(redis, 'REPLICAOF', '127.0.0.1', 1),
      end: ({ redis }: WorkerScene<RedisServer>) => runCommand(redis, 'REPLICAOF', 'NO', 'ONE'),
    },
  ],
] as const;

needs.describe('own-redis')('a run whose Redis', () => {
  test.each(OUTAGES)(
    '%s reports that it waits, and finishes after the outage',
    async (_, outage) => {
      const scene = await workerSceneAt(ownRedisServer(), RULES);
      const worker = await scene.worker();
      const lead = scene.begin([...LEAD, ...STREAM]);
      await eventually('both calls run', () => logOf(scene).length === 2);
      await outage.begin(scene);
      // The calls end during the outage, so their results cannot be stored yet.
      await writeFile(join(scene.workspace, 'go'), '');
      for (const process of [lead, worker]) {
        await eventually('the wait is reported', () => AWAY.test(process.stderr));
      }
      await eventually('the calls have ended', () => logOf(scene).length === 4);
      const sent = scene.bodies().length;
      await outage.end(scene);
      const { code, result } = await lead.ended;
      expect({ code, result: result.result }).toEqual({ code: 0, result: 'I see.' });
      for (const process of [lead, worker]) {
        await eventually('the end is reported', () => process.stderr.includes(BACK));
        expect(process.stderr.split(': all agents wait')).toHaveLength(2);
        expect(process.stderr.split(BACK)).toHaveLength(2);
        expect(process.stderr).not.toContain('Warning');
      }
      expect(scene.bodies().length).toBeGreaterThan(sent);
      expect([...logOf(scene)].sort()).toEqual(['begun', 'begun', 'gone', 'gone']);
      const journals = await scene.journals('one');
      const count = (records: readonly Line[], expectedType: string) =>
        records.filter(({ type }) => type === expectedType).length;
      for (const [at, records] of journals.entries()) {
        expect(count(records, 'run.ended')).toBe(1);
        expect(count(records, 'call.started')).toBe(at === 0 ? 2 : 1);
        expect(count(records, 'call.ended')).toBe(at === 0 ? 2 : 1);
      }
      expect(journals).toHaveLength(2);
      worker.kill('SIGTERM');
      expect(await worker.ended).toMatchObject({ code: 0 });
    },
  );
});
