/** Who asks a question, and for whom, in words. */
import type { OpenQuestion } from '../../sdk/control/open-questions.js';
import { type AgentView, calledOf } from '../../views/swarm/swarm-view.js';
import { plainText } from '../text/sanitize.js';

/** Who asks, and for whom it works. */
export const askerOf = ({ agent, above, question, session }: OpenQuestion): string => {
  const parent = above.at(-1);
  const who = agent === undefined ? '' : `${plainText(calledOf(agent), 60)} `;
  const whom = parent === undefined ? '' : `, working for ${plainText(calledOf(parent), 60)}`;
  return `${who}${plainText(question.agent, 40)} of ${session.id}${whom}`;
};

/** All whom an agent asks for, and what each of them is to do; undefined for the lead. */
export const purposeOf = ({ agent, above }: OpenQuestion): { readonly purpose?: string } => {
  if (agent === undefined || above.length === 0) return {};
  return { purpose: [...above, agent].map(linkText).join(' → ') };
};

const linkText = (agent: AgentView): string => {
  const who = `${plainText(calledOf(agent), 30)} ${plainText(agent.id, 40)}`;
  const task = plainText(agent.description, 40);
  return task === '' ? who : `${who} (${task})`;
};
