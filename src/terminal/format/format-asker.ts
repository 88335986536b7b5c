/** Formats the agent that asks a question, and its ancestors. */
import type { OpenQuestion } from '../../sdk/control/open-questions.js';
import { type AgentView, displayName } from '../../views/swarm/swarm-view.js';
import { plainText } from '../text/sanitize.js';

/** Returns the asking agent, its session and its parent. */
export const formatAsker = ({ agent, above, question, session }: OpenQuestion): string => {
  const parent = above.at(-1);
  const asker = agent === undefined ? '' : `${plainText(displayName(agent), 60)} `;
  const forParent =
    parent === undefined ? '' : `, working for ${plainText(displayName(parent), 60)}`;
  return `${asker}${plainText(question.agent, 40)} of ${session.id}${forParent}`;
};

/** Returns the chain of agents from the lead to the asking agent with their tasks. Empty for the lead. */
export const formatPurpose = ({ agent, above }: OpenQuestion): { readonly purpose?: string } => {
  if (agent === undefined || above.length === 0) return {};
  return { purpose: [...above, agent].map(linkText).join(' → ') };
};

const linkText = (agent: AgentView): string => {
  const asker = `${plainText(displayName(agent), 30)} ${plainText(agent.id, 40)}`;
  const task = plainText(agent.description, 40);
  return task === '' ? asker : `${asker} (${task})`;
};
