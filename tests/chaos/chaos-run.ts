/** One storm over one swarm, and what is left of it. Of a bad one SKEIN_TEST_KEEP, a folder, keeps everything. */
import { join } from 'node:path';
import { queueKey } from '../../src/store/redis/connection/swarm-keys.js';
import { examine, type Findings } from './examination.js';
import { readRemains, shownAgents } from './remains.js';
import { seededRandom } from './seeded-random.js';
import { Storm, type StormFigures } from './storm.js';
import { StormySwarm } from './stormy-swarm.js';
import { swarmRules } from './swarm-script.js';

export const AGENTS = 200;
const MOST_STRIKES = 24;

export interface ChaosReport extends Findings {
  readonly seed: number;
  readonly strikes: StormFigures['strikes'];
  readonly diary: readonly string[];
  readonly seconds: number;
  /** Agents that workers let go, most of them zombies. */
  readonly givenBack: number;
}

export const runChaos = async (seed: number): Promise<ChaosReport> => {
  const random = seededRandom(seed);
  const begun = Date.now();
  const paces = Array.from({ length: AGENTS }, () => random.between(200, 1_200));
  const swarm = await StormySwarm.open(swarmRules(AGENTS, (agent) => paces[agent] ?? 0));
  try {
    const isEnough = async () =>
      Number(await swarm.broker.call('ZCARD', queueKey('completed'))) > AGENTS * 0.8;
    await swarm.begun();
    const { strikes, diary, woken } = await new Storm(swarm, random).rage(MOST_STRIKES, isEnough);
    const ownerless = await swarm.silence(() => shownAgents(swarm));
    const last = await swarm.finish();
    const { wrong, ...rest } = examine(await readRemains(swarm), AGENTS);
    const ends = [
      ...[...ownerless].flatMap(([id, status]) =>
        status === 'running' ? [`${id} is shown as running when nobody is there.`] : [],
      ),
      ...(last?.code === 0 ? [] : ['The last lead did not end as it should.']),
      ...woken.flatMap(({ code }) => (code === 1 ? [] : [`A lead that woke ended with ${code}.`])),
      ...swarm.badEnds,
    ];
    const seconds = Math.round((Date.now() - begun) / 1_000);
    const { givenBack } = swarm;
    const report = {
      seed,
      strikes,
      diary,
      seconds,
      givenBack,
      ...rest,
      wrong: [...ends, ...wrong],
    };
    const { SKEIN_TEST_KEEP: kept } = process.env;
    if (report.wrong.length > 0 && kept !== undefined) await swarm.keep(join(kept, String(seed)));
    return report;
  } finally {
    await swarm.close();
  }
};
