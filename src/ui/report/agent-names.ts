/** Agent names on the page: the given name, or type and short id. */

import { shortIds } from '../../terminal/format/short-ids.js';
import type { AgentReport, SwarmReport } from '../../views/report/swarm-report.js';
import { redactedText } from './html.js';

export class AgentNames {
  private readonly names: ReadonlyMap<string, string>;

  constructor({ agents }: SwarmReport) {
    const ids = shortIds(agents.map(({ id }) => id));
    this.names = new Map(agents.map((agent) => [agent.id, nameOf(agent, ids.get(agent.id) ?? '')]));
  }

  of(agent: string): string {
    return this.names.get(agent) ?? redactedText(agent, 40);
  }
}

const nameOf = ({ id, name, type, kind }: AgentReport, short: string): string => {
  if (name !== null && redactedText(name, 60) !== '') return redactedText(name, 60);
  if (kind === 'lead') return 'lead';
  return `${redactedText(type ?? 'fork', 60)} ${redactedText(short === '' ? id : short, 40)}`;
};

/** Maximum indentation in levels. Deeper agents are drawn at this depth. */
const MAX_INDENT = 8;

/** Returns the CSS class for the depth of an agent in the tree. */
export const depthClass = (depth: number): string =>
  depth > 0 ? `child d${Math.ceil(Math.min(depth, MAX_INDENT))}` : 'd0';
