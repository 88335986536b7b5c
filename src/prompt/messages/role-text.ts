/** Role of a child agent: the role block of a typed agent and the first message of a teammate. */
import { escapeLine, escapeTags } from '../escape-tags.js';

/** Role of a typed agent without a definition. */
export const LOST_ROLE =
  'The definition of this role no longer exists. Do the task with the tools that you may use.';

/** Returns the role block of a typed agent. It follows the blocks that all agents share. */
export const roleText = (name: string, role: string): string => `<agent-role>
You are the agent "${escapeLine(name)}". Another agent gives you one task and sees only your last message, your report: make it self-contained.

${escapeTags(role.trim())}
</agent-role>`;

/**
 * Returns the first message of a teammate: how the team works, then the task. `hidden` are tools that the
 * prompt does not show.
 */
export const teammateTask = (
  prompt: string,
  { name, team }: Teammate,
  hidden: ReadonlySet<string> = new Set(),
): string =>
  `You are ${JSON.stringify(escapeLine(name))} of the team ${JSON.stringify(escapeLine(team))}. Your lead is "lead"; ${hidden.has('SendMessage') ? '' : 'SendMessage reaches the lead and your teammates by name, and '}you receive their messages.${hidden.has('TaskList') ? '' : TASK_LIST} When your task is done, end with a report: you are then idle until you get a message.

${prompt}`;

const TASK_LIST = " TaskList shows the team's tasks: claim the tasks you do, and complete them.";

interface Teammate {
  readonly name: string;
  readonly team: string;
}
