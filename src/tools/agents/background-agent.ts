/** An agent as TaskOutput and TaskStop see it: found by an address, and shown as it is now. */
import type { Agents, ChildView } from '../../protocol/agent/swarm.js';
import { type ToolContext, ToolFailure, type ToolOutcome } from '../../protocol/tools/tool.js';
import { shortLine } from '../truncation.js';
import { agentLabel, reportText } from './agent-report.js';
import { shownName } from './message-text.js';

const MOST_IDS = 20;
const LONGEST_NAME = 100;

/** An agent that was found, and where to ask about it again. */
export interface FoundAgent {
  readonly id: string;
  readonly agents: Agents;
  readonly view: ChildView;
}

/** By id, name or the beginning of an id. What is the id of a command is never an agent. Throws a ToolFailure where several fit. */
export const findAgent = (
  address: string,
  { jobs, jobReadTo, agents }: ToolContext,
): FoundAgent | undefined => {
  if (jobs.find(address) !== undefined || jobReadTo(address) !== undefined) return undefined;
  const [view, ...others] = agents?.find(address) ?? [];
  if (agents === undefined || view === undefined) return undefined;
  if (others.length > 0) {
    const fitting = shortList([view, ...others]).join(', ');
    throw new ToolFailure(
      `Several agents fit "${shortLine(address, LONGEST_NAME)}": ${fitting}. Give the id of one.`,
    );
  }
  return { id: view.agent.id, agents, view };
};

export const agentIds = (agents: Agents | undefined): readonly string[] =>
  shortList(agents?.list() ?? []);

/** Ids with names, those that still have something to do first, and not all of a thousand. */
const shortList = (all: readonly ChildView[]): readonly string[] => {
  const isOver = ({ status }: ChildView) => status === 'ended' || status === 'stopped';
  const sorted = all.toSorted((a, b) => Number(isOver(a)) - Number(isOver(b)));
  const ids = sorted.slice(0, MOST_IDS).map(({ agent: { id, name } }) => {
    return name === undefined ? id : `${id} (${shownName(name)})`;
  });
  const more = all.length - ids.length;
  return more === 0 ? ids : [...ids, `and ${more} more`];
};

/** How it is doing now, with its report once there is one. */
export const showAgent = ({ id, agents, view: found }: FoundAgent): ToolOutcome => {
  const [view = found] = agents.find(id);
  const { status, turns, cost, report, letter } = view;
  return {
    content: report === undefined ? statusLine(view) : reportText(report),
    ...(report && letter !== undefined && { notes: [{ type: 'letter.told', letter }] }),
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
  idle: 'rests until somebody writes to it',
  ended: 'has ended, and left no report',
  stopped: 'was stopped, and left no report',
  lost: 'has not ended, but nobody runs it any more',
} as const;
