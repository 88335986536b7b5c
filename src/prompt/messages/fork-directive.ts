/** Directive of a fork, and notices about forked agents and forked sessions. */
import { escapeLine, escapeTags } from '../escape-tags.js';

/** Replaces each result that the parent still waited for. The same for all forks. */
export const FORK_PLACEHOLDER =
  'No result: this conversation was forked while the call was running.';

const FORK = `You are a fork: you continue this conversation as a separate agent, in the same repository, beside the original agent. The results above are placeholders; other agents do the work of those calls, so do not redo it.
Do only the task below. Then end with a self-contained report, because only the report is read: what you did, what you found (path:line), what is left.`;

/** Returns the last block of a fork's first message: text that all forks share, then the task. */
export const forkDirective = (prompt: string): string =>
  `${FORK}\n\n<fork-task>\n${escapeTags(prompt.trim())}\n</fork-task>`;

/** Tells the lead of a copied session that an agent stayed with the original session. */
export const sessionForkNotice = ({ agent, description, session }: StayedAgent): string =>
  `The agent ${agent} (${escapeLine(description)}) stayed with session ${session}, of which this session is a copy: it continues there and will not report here. Its work may be done in part or in full: check before you repeat it.`;

interface StayedAgent {
  readonly agent: string;
  readonly description: string;
  readonly session: string;
}
