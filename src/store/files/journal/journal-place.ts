/** Where the journals of a session lie. */
import fs from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../../protocol/errors.js';

const ENDING = '.jsonl';

/** Agents become names of files, and people may ask for any. */
export const isJournalOwner = (agent: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(agent);

export const journalPath = (folder: string, agent: string): string => {
  if (isJournalOwner(agent)) return join(folder, 'agents', `${agent}${ENDING}`);
  throw new UsageError(
    `"${agent.slice(0, 80)}" cannot be an agent: ids are letters, digits, - and _.`,
  );
};

/** The agents that have a journal. */
export const agentsOf = (folder: string): readonly string[] => {
  const agents = join(folder, 'agents');
  if (!fs.existsSync(agents)) return [];
  return fs
    .readdirSync(agents)
    .filter((name) => name.endsWith(ENDING))
    .map((name) => name.slice(0, -ENDING.length))
    .filter(isJournalOwner)
    .sort();
};
