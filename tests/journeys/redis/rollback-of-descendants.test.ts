/** A Redis that restarts with an older state: agents that run in the process of their parent. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bash, LEAD } from '../../fakes/agents/worker-lead.js';
import { logOf, SOON, untilCopied, workerSceneAt } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import { ownRedisServer } from '../../fakes/redis/own-redis-server.js';
import type { Rules } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';
import { IS_WIDE } from '../../setup/wide.js';

const AGENTS = JSON.stringify({
  helper: { description: 'Helps', prompt: 'You help.', tools: 'Bash, Task' },
});
const FREE = ['--permission-mode', 'bypassPermissions', '--agents', AGENTS];
const JSON_LEAD = [...LEAD.slice(0, 4), ...FREE, '--output-format', 'json'];
const RESUMED = ['resume', 'one', '-p', ...FREE, '--output-format', 'json'];

const STEPS = ['one', 'two', 'three'] as const;
const command = (step: string) =>
  bash(`echo ${step} >> log; while [ ! -e go-${step} ]; do sleep 0.02; done`);

const task = (prompt: string, more: Record<string, unknown> = {}) => ({
  name: 'Task',
  input: { description: prompt, prompt, subagent_type: 'helper', ...more },
});
const begins = (call: ReturnType<typeof task>): Rules => [
  { match: { firstUser: 'Begin', turn: 0 }, reply: { tool_use: call } },
];
const below = (call: ReturnType<typeof task>): Rules => [
  ...begins(task('Delegate', { run_in_background: true })),
  { match: { firstUser: 'Delegate', turn: 0 }, reply: { tool_use: call } },
  { match: { firstUser: 'Delegate' }, reply: 'It is done.' },
];

interface Kind {
  readonly rules: Rules;
  /** Number of requests until only the commands run. */
  readonly requests: number;
}

/** By kind of the agent that runs the commands. */
const KINDS: Readonly<Record<string, Kind>> = {
  'a sub-agent of the lead': { rules: begins(task('Look')), requests: 2 },
  'a teammate of the lead': {
    rules: begins(task('Look', { team_name: 'geese', name: 'ann' })),
    requests: 3,
  },
  'a sub-agent on a worker': { rules: below(task('Look')), requests: 4 },
  'a background agent of a worker': {
    rules: below(task('Look', { run_in_background: true })),
    requests: 5,
  },
};
const KIND_NAMES = Object.keys(KINDS);

const rulesOf = (kind: string): Rules => [
  // A model that is told of the loss does not repeat its calls.
  { match: { toolResult: 'may have run' }, reply: 'I check first.' },
  { match: { lastUser: 'may have run' }, reply: 'I check first.' },
  ...(KINDS[kind]?.rules ?? []),
  { match: { firstUser: 'Begin' }, reply: 'I see.' },
  ...STEPS.map((step, turn) => ({
    match: { firstUser: 'Look', turn },
    reply: { tool_use: command(step) },
  })),
  { reply: 'There is a goose.' },
];

type Dead = readonly ('worker' | 'lead')[];
const DEAD: readonly Dead[] = [[], ['worker'], ['lead'], ['worker', 'lead']];
const ALL = KIND_NAMES.flatMap((kind) => DEAD.map((dead) => [kind, dead] as const));
const SOME: typeof ALL = [
  ['a teammate of the lead', []],
  ['a sub-agent on a worker', []],
  ['a sub-agent on a worker', ['lead']],
  ['a sub-agent on a worker', ['worker', 'lead']],
];

needs.describe('own-redis')('a Redis that has lost records', () => {
  test.each(IS_WIDE ? ALL : SOME)(
    'of %s lets no agent repeat a call, with these killed: %j',
    async (kind, dead) => {
      const scene = await workerSceneAt(ownRedisServer(), rulesOf(kind), SOON);
      const go = (step: string) => writeFile(join(scene.workspace, `go-${step}`), '');
      const runs = (step: string) => eventually(`${step} runs`, () => logOf(scene).includes(step));
      const worker = await scene.worker();
      let lead = scene.begin(JSON_LEAD);
      await runs('one');
      await eventually('all others wait', () => scene.bodies().length === KINDS[kind]?.requests);
      const rollBack = await scene.redis.snapshot();
      await go('one');
      await runs('two');
      if (dead.length > 0) await untilCopied(scene, 'go-two');
      for (const [name, process] of Object.entries({ worker, lead })) {
        if (!dead.some((killed) => killed === name)) continue;
        process.kill('SIGKILL');
        await process.ended;
      }
      await rollBack();
      await Promise.all(STEPS.map(go));
      if (dead.includes('worker')) await scene.worker();
      if (dead.includes('lead')) {
        await scene.left('one');
        lead = scene.begin(RESUMED);
      }
      const first = await lead.ended;
      const hasFailed = first.code !== 0;
      expect(first.result.is_error).toBe(hasFailed);
      expect(/Redis has lost/.test(first.result.result)).toBe(hasFailed);
      const ends = hasFailed ? [first, await scene.run(RESUMED)] : [first];
      expect(ends.at(-1)?.code).toBe(0);
      expect(ends.flatMap(({ result }) => result.lost_records)).toContainEqual({
        agent_id: expect.any(String),
        records: expect.any(Number),
      });
      expect(
        scene.bodies().some(({ messages }) => /may have run/.test(JSON.stringify(messages))),
      ).toBe(true);
      expect(logOf(scene)).toEqual(['one', 'two']);
    },
  );
});
