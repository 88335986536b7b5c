/** Sweeps orphans: kills marked processes whose owner has died, in any process group. */
import { OWNER_VARIABLE } from './child-environment.js';
import { ownerLives } from './owner-marker.js';
import { processTable } from './process-table.js';

const MAX_ROUNDS = 50;
const PAUSE_MS = 20;

/**
 * Kills every process whose environment variable has a condemned value. Repeats until a round finds none, because a
 * process may fork during the search. Returns the number of killed processes.
 */
export const killMarkedProcesses = async (
  variable: string,
  isCondemned: (value: string) => boolean,
): Promise<number> => {
  const killed = new Set<number>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const condemned = (await processTable.marked(variable)).filter(({ value }) =>
      isCondemned(value),
    );
    const reachable = condemned.filter(({ pid }) => kill(pid));
    if (reachable.length === 0) break;
    for (const { pid } of reachable) killed.add(pid);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return killed.size;
};

/** Kills processes of dead owners. Run at program start. Returns the number of killed processes. */
export const sweepOrphans = (
  isOwnerDead: (marker: string) => boolean = (marker) => !ownerLives(marker),
): Promise<number> => {
  const verdicts = new Map<string, boolean>();
  return killMarkedProcesses(OWNER_VARIABLE, (marker) => {
    const isDead = verdicts.get(marker) ?? isOwnerDead(marker);
    verdicts.set(marker, isDead);
    return isDead;
  });
};

const kill = (pid: number): boolean => {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
};
