/** An agent as TaskOutput and TaskStop see it: found by an address, and shown as it is now. */
import type { Agents, ChildView } from '../protocol/swarm.js';
import type { ToolContext, ToolOutcome } from '../protocol/tool.js';
import { agentLabel, reportText } from './agent-report.js';

const MOST_IDS = 20;

/** An agent that was found, and where to ask about it again. */
export interface FoundAgent {
  readonly id: string;
  readonly agents: Agents;
  readonly view: ChildView;
}

/** By id, name or the beginning of an id. What is the id of a command is never an agent. */
export const findAgent = (
  address: string,
  { jobs, jobReadTo, agents }: ToolContext,
): FoundAgent | undefined => {
  if (jobs.find(address) !== undefined || jobReadTo(address) !== undefined) return undefined;
  const view = agents?.find(address);
  if (agents === undefined || view === undefined) return undefined;
  return { id: view.agent.id, agents, view };
};

/** Those that still have something to do first, and not all of a thousand. */
export const agentIds = (agents: Agents | undefined): readonly string[] => {
  const all = agents?.list() ?? [];
  const isOver = ({ status }: ChildView) => status === 'ended' || status === 'stopped';
  const sorted = all.toSorted((a, b) => Number(isOver(a)) - Number(isOver(b)));
  const ids = sorted.slice(0, MOST_IDS).map(({ agent }) => agent.id);
  const more = all.length - ids.length;
  return more === 0 ? ids : [...ids, `and ${more} more`];
};

/** How it is doing now, with its report once there is one. */
export const showAgent = ({ id, agents, view: found }: FoundAgent): ToolOutcome => {
  const view = agents.find(id) ?? found;
  const { status, turns, cost } = view;
  return {
    content: view.report === undefined ? statusLine(view) : reportText(view.report),
    facts: { task: id, status, turns, ...(cost !== null && { cost }) },
  };
};

const statusLine = ({ agent, status, state, turns, cost }: ChildView): string => {
  const doing = status === 'running' ? `is running (${state})` : STATUS_WORDS[status];
  const money = cost === null ? 'cost unknown' : `$${cost.toFixed(4)}`;
  const work = `${turns} ${turns === 1 ? 'turn' : 'turns'}`;
  return `Agent ${agentLabel(agent)} ${doing}: ${work}, ${money} so far.`;
};

const STATUS_WORDS = {
  queued: 'waits for a place',
  ended: 'has ended, and left no report',
  stopped: 'was stopped, and left no report',
  lost: 'has not ended, but nobody runs it any more',
} as const;
