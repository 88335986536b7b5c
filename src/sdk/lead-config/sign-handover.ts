/**
 * Signs the minimum config version for an agent that the lead hands to a worker. An agent that
 * was handed over after the person forbade an action can therefore never run under an older config.
 */
import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../../lib/json/parse-json.js';
import type { QueuedJob } from '../../protocol/session/job-queue.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { ConfigVersion } from './config-version.js';
import { signStatement, verifyStatement } from './sign-statement.js';

const KIND = 'handover';

const claims = z.object({
  session: z.string(),
  createdAt: z.number(),
  epoch: z.number(),
  edition: z.number(),
  agent: z.string(),
  /** Number of records in the agent's journal. */
  at: z.number(),
});
type Handover = z.infer<typeof claims>;

const statement = claims.extend({ signature: z.string() });

export const signHandover = (handover: Handover, key: KeyObject): string =>
  signStatement(KIND, handover, key);

type HandedOverJob = Pick<QueuedJob, 'id' | 'swarm' | 'at' | 'handover'>;

/**
 * Returns the minimum config version of the job. Agents on workers cannot sign, so their children are handed
 * over with the statement about the nearest ancestor that the lead handed over. Rejects with UsageError if
 * no known key signed a statement about the agent or an ancestor.
 */
export const verifyHandover = async (
  job: HandedOverJob,
  publicKeys: readonly string[],
  parentOf: (agent: string) => Promise<string | undefined>,
): Promise<ConfigVersion> => {
  const { data } = statement.safeParse(parseJson(job.handover ?? ''));
  if (
    data === undefined ||
    !verifyStatement(KIND, data, publicKeys) ||
    !(await coversJob(data, job, parentOf))
  )
    throw new UsageError(
      `Agent ${job.id} of session ${job.swarm} was not handed over by its lead, or this worker does not know the key of the lead's person (skein.personKeys).`,
    );
  return data;
};

const coversJob = async (
  { session, agent, at }: Handover,
  job: HandedOverJob,
  parentOf: (agent: string) => Promise<string | undefined>,
): Promise<boolean> => {
  if (session !== job.swarm) return false;
  if (agent === job.id) return at === job.at;
  // Parent ids come from the store and may form a cycle.
  const visited = new Set<string>();
  for (let id: string | undefined = job.id; id !== undefined && !visited.has(id); ) {
    if (id === agent) return true;
    visited.add(id);
    id = await parentOf(id);
  }
  return false;
};
