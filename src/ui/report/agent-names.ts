/** How the page calls each agent: by its name, or by what it is and the beginning of its id. */

import { shortIds } from '../../terminal/text/short-ids.js';
import type { AgentReport, SwarmReport } from '../../views/report/swarm-report.js';
import { words } from './html-text.js';

export class AgentNames {
  private readonly names: ReadonlyMap<string, string>;

  constructor({ agents }: SwarmReport) {
    const ids = shortIds(agents.map(({ id }) => id));
    this.names = new Map(agents.map((agent) => [agent.id, nameOf(agent, ids.get(agent.id) ?? '')]));
  }

  of(agent: string): string {
    return this.names.get(agent) ?? words(agent, 40);
  }
}

const nameOf = ({ id, name, type, kind }: AgentReport, short: string): string => {
  if (name !== null && words(name, 60) !== '') return words(name, 60);
  if (kind === 'lead') return 'lead';
  return `${words(type ?? 'fork', 60)} ${words(short === '' ? id : short, 40)}`;
};

/** Deeper ones are drawn at this depth. */
const DEEPEST = 8;

/** How far to the right its place in the tree is, as a class of the style. */
export const depthClass = (depth: number): string =>
  depth > 0 ? `child d${Math.ceil(Math.min(depth, DEEPEST))}` : 'd0';
