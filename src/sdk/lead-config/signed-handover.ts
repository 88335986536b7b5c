/**
 * What a lead signs about an agent that it hands over: which of its words hold for it, or later ones. So one
 * that was handed over after the person has forbidden something never works under what was allowed before.
 */
import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { UsageError } from '../../protocol/errors.js';
import type { QueuedJob } from '../../protocol/session/job-queue.js';
import { isSigned, signStatement } from './signed-statement.js';
import type { ConfigVersion } from './terms-order.js';

const KIND = 'handover';

const claims = z.object({
  session: z.string(),
  createdAt: z.number(),
  epoch: z.number(),
  edition: z.number(),
  agent: z.string(),
  /** How long its journal was. */
  at: z.number(),
});
type Handover = z.infer<typeof claims>;

const statement = claims.extend({ signature: z.string() });

export const signHandover = (handover: Handover, key: KeyObject): string =>
  signStatement(KIND, handover, key);

type Handed = Pick<QueuedJob, 'id' | 'swarm' | 'at' | 'handover'>;

/**
 * The words that its agent must not go behind. Agents on workers cannot sign: what works for one of them is
 * handed over with what was signed about that one. Rejects with a UsageError when nobody known has signed it.
 */
export const verifyHandover = async (
  job: Handed,
  publicKeys: readonly string[],
  parentOf: (agent: string) => Promise<string | undefined>,
): Promise<ConfigVersion> => {
  const { data } = statement.safeParse(parsed(job.handover ?? ''));
  if (
    data === undefined ||
    !isSigned(KIND, data, publicKeys) ||
    !(await isAbout(data, job, parentOf))
  )
    throw new UsageError(
      `Agent ${job.id} of session ${job.swarm} was not handed over by its lead, or the key of its person is not known to this worker.`,
    );
  return data;
};

const isAbout = async (
  { session, agent, at }: Handover,
  job: Handed,
  parentOf: (agent: string) => Promise<string | undefined>,
): Promise<boolean> => {
  if (session !== job.swarm) return false;
  if (agent === job.id) return at === job.at;
  // What a store says of parents may go in circles.
  const seen = new Set<string>();
  for (let id: string | undefined = job.id; id !== undefined && !seen.has(id); ) {
    if (id === agent) return true;
    seen.add(id);
    id = await parentOf(id);
  }
  return false;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
