/** How an agent hears of the end of one that it did not wait for: in a letter, which comes once. */
import { SkeinError } from '../protocol/errors.js';
import { CHILD_SENDER, type ChildReport } from '../protocol/swarm.js';
import { rawText } from '../protocol/wire.js';
import { notificationText } from '../tools/agent-report.js';
import type { Member } from './member.js';

/** One that is resumed ends again, and that is another letter. */
const letterOf = ({ agent, turns, tokens }: ChildReport): string =>
  `${PREFIX}${agent.id}_${turns}_${tokens}`;

const PREFIX = 'r_';
const LETTER = /^r_(.+)_\d+_\d+$/;

/** Nobody is told who has ended; what became of the child is on record. */
export const deliverReport = ({ deps, agent }: Member, report: ChildReport): void => {
  const { notebook } = deps;
  const letter = letterOf(report);
  if (notebook.history.family.reports.has(letter)) return;
  const raw = `[${rawText(notificationText(report))}]`;
  try {
    if (agent !== undefined) agent.submit(CHILD_SENDER, raw, letter);
    else notebook.record({ type: 'letter.received', letter, from: CHILD_SENDER, raw });
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
  }
};

/** The children that a member has heard of. */
export const reportedTo = ({ deps }: Member): ReadonlySet<string> =>
  new Set(
    [...deps.notebook.history.family.reports].flatMap((letter) => LETTER.exec(letter)?.[1] ?? []),
  );
