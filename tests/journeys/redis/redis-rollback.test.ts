/** A Redis that restarts with an older state: writes that it had acknowledged are lost. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bash, FREE, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import {
  logOf,
  SOON,
  untilCopied,
  type WorkerScene,
  workerSceneAt,
} from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import { ownRedisServer, type RedisServer } from '../../fakes/redis/own-redis-server.js';
import type { Ended, Rules, Running } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';
import { IS_WIDE } from '../../setup/wide.js';

type Scene = WorkerScene<RedisServer>;

/** Commands: one of the lead, then three of its agent. Each appends a line to `log` and waits for a file. */
const STEPS = ['lead', 'one', 'two', 'three'] as const;
type Step = (typeof STEPS)[number];
const command = (step: Step) =>
  bash(`echo ${step} >> log; while [ ! -e go-${step} ]; do sleep 0.02; done`);

const RULES: Rules = [
  // A model that is told of the loss does not repeat its calls.
  { match: { toolResult: 'may have run' }, reply: 'I check first.' },
  { match: { firstUser: 'Begin', turn: 0 }, reply: { tool_use: command('lead') } },
  { match: { firstUser: 'Begin', turn: 1 }, reply: { tool_use: helper('Look') } },
  { match: { firstUser: 'Begin' }, reply: 'I see.' },
  ...STEPS.slice(1).map((step, turn) => ({
    match: { firstUser: 'Look', turn },
    reply: { tool_use: command(step) },
  })),
  { match: { firstUser: 'Look' }, reply: 'There is a goose.' },
];

const JSON_LEAD = [...LEAD, '--output-format', 'json'];
const RESUMED = ['resume', 'one', '-p', ...FREE, '--output-format', 'json'];

const allow = async ({ workspace }: Scene, steps: readonly Step[]) => {
  for (const step of steps) await writeFile(join(workspace, `go-${step}`), '');
};

const untilRuns = (scene: Scene, step: Step) =>
  eventually(`${step} runs`, () => logOf(scene).includes(step));

/** Resolves when the lead waits for its agent, so that its journal does not grow. */
const untilLeadWaits = async (scene: Scene) => {
  const sessions = await scene.store();
  for (let turns = 0; turns < 3; ) {
    turns = 0;
    for await (const { type, parent } of sessions.events('one'))
      if (type === 'turn.ended' && parent === null) turns += 1;
  }
};

const kill = async (process: Running) => {
  process.kill('SIGKILL');
  await process.ended;
};

/** Describes the loss as the result of the lead tells it. */
const lossIn = ({ result, stderr }: Ended): string =>
  result.is_error ? String(result.result) : JSON.stringify([result.lost_records, stderr]);

type Dead = readonly ('worker' | 'lead')[];
type Case = readonly [saved: Step, lost: Step, dead: Dead];

const DEAD: readonly Dead[] = [[], ['worker'], ['lead'], ['worker', 'lead']];
const ALL: readonly Case[] = DEAD.flatMap((dead) =>
  STEPS.flatMap((saved, at) =>
    STEPS.slice(Math.max(1, at + 1)).map((lost) => [saved, lost, dead] as const),
  ),
);
const SOME: readonly Case[] = [
  ['one', 'two', []],
  ['one', 'two', ['worker']],
  ['lead', 'two', ['worker', 'lead']],
];

needs.describe('own-redis')('a Redis that is restored to the state during a call', () => {
  test.each(IS_WIDE ? ALL : SOME)(
    '(%s) while another call runs (%s) lets no agent repeat a call, with these killed: %j',
    async (saved, lost, dead) => {
      const scene = await workerSceneAt(ownRedisServer(), RULES, SOON);
      const worker = await scene.worker();
      let lead = scene.begin(JSON_LEAD);
      let rollBack = async () => {};
      const started = STEPS.slice(0, STEPS.indexOf(lost) + 1);
      for (const step of started) {
        await untilRuns(scene, step);
        if (step !== 'lead') await untilLeadWaits(scene);
        if (step === saved) rollBack = await scene.redis.snapshot();
        if (step !== lost) await allow(scene, [step]);
      }
      // Without a live process only the copy of the lead knows of the lost records.
      if (dead.length === 2) await untilCopied(scene, `go-${lost}`);
      if (dead.includes('worker')) await kill(worker);
      if (dead.includes('lead')) await kill(lead);
      await rollBack();
      await allow(scene, STEPS);
      if (dead.includes('worker')) await scene.worker();
      if (dead.includes('lead')) {
        await scene.left('one');
        lead = scene.begin(RESUMED);
      }
      let ended = await lead.ended;
      expect(lossIn(ended)).toMatch(/Redis has lost/);
      if (ended.code !== 0) ended = await scene.run(RESUMED);
      expect(ended.code).toBe(0);
      expect(ended.result.lost_records).toEqual([
        { agent_id: expect.any(String), records: expect.any(Number) },
      ]);
      expect(
        scene.bodies().some(({ messages }) => /may have run/.test(JSON.stringify(messages))),
      ).toBe(true);
      expect(logOf(scene)).toEqual(started);
    },
  );
});
