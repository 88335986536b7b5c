/**
 * Runs a swarm under random faults and checks its final state. If the check fails, all data of the swarm is copied to
 * the folder SKEIN_TEST_KEEP.
 */
import { join } from 'node:path';
import { queueKey } from '../../src/store/redis/connection/swarm-keys.js';
import { IS_WIDE } from '../setup/wide.js';
import { ChaosSwarm } from './chaos-swarm.js';
import { checkFinalState, type Findings } from './check-final-state.js';
import { FaultInjector, type InjectedFaults } from './fault-injector.js';
import { readFinalState, shownAgents } from './final-state.js';
import { seededRandom } from './seeded-random.js';
import { swarmRules } from './swarm-script.js';

/** `npm run test:soak` runs 200 agents. */
export const AGENTS = IS_WIDE ? 200 : 100;
const MAX_FAULTS = 24;

export interface ChaosReport extends Findings {
  readonly seed: number;
  /** Number of faults by kind. */
  readonly strikes: InjectedFaults['strikes'];
  readonly diary: readonly string[];
  readonly seconds: number;
  /** Number of agents that workers returned to the queue, most of them after a lost lease. */
  readonly givenBack: number;
}

export const runChaos = async (seed: number): Promise<ChaosReport> => {
  const random = seededRandom(seed);
  const startedAt = Date.now();
  const delaysMs = Array.from({ length: AGENTS }, () => random.between(200, 1_200));
  const swarm = await ChaosSwarm.open(swarmRules(AGENTS, (agent) => delaysMs[agent] ?? 0));
  try {
    const isEnough = async () =>
      Number(await swarm.connections.call('ZCARD', queueKey('completed'))) > AGENTS * 0.8;
    await swarm.waitForFirstJob();
    const injector = new FaultInjector(swarm, random);
    const { strikes, diary, resumedLeads } = await injector.run(MAX_FAULTS, isEnough);
    const ownerless = await swarm.whileAllDead(() => shownAgents(swarm));
    const last = await swarm.finish();
    const { wrong, ...rest } = checkFinalState(await readFinalState(swarm), AGENTS);
    const ends = [
      ...[...ownerless].flatMap(([id, status]) =>
        status === 'running' ? [`${id} is shown as running without a process.`] : [],
      ),
      ...(last?.code === 0 ? [] : ['The last lead did not succeed.']),
      ...resumedLeads.flatMap(({ code }) =>
        code === 1 ? [] : [`A lead that was stopped and resumed ended with ${code}.`],
      ),
      ...swarm.badEnds,
    ];
    const seconds = Math.round((Date.now() - startedAt) / 1_000);
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
