/**
 * Background agent for TaskOutput and TaskStop: found by an address, shown with its current status.
 */
import type { Agents, ChildView } from '../../protocol/agent/agents.js';
import { type ToolContext, ToolFailure, type ToolOutcome } from '../../protocol/tools/tool.js';
import { truncateLine } from '../text/truncate-text.js';
import { agentLabel, agentReport } from './agent-report.js';
import { shownName } from './message-text.js';

const MAX_IDS = 20;
const MAX_NAME_LENGTH = 100;

/** An agent that was found, and the port for its current state. */
export interface BackgroundAgent {
  readonly id: string;
  readonly agents: Agents;
  readonly view: ChildView;
}

/**
 * Finds an agent by id, name or start of an id. Returns undefined if no agent matches or the
 * address is the id of a command. Throws ToolFailure if several agents match.
 */
export const findBackgroundAgent = (
  address: string,
  { jobs, jobReadTo, agents }: ToolContext,
): BackgroundAgent | undefined => {
  if (jobs.find(address) !== undefined || jobReadTo(address) !== undefined) return undefined;
  const [view, ...others] = agents?.find(address) ?? [];
  if (agents === undefined || view === undefined) return undefined;
  if (others.length > 0) {
    const matching = shortList([view, ...others]).join(', ');
    throw new ToolFailure(
      `Several agents match "${truncateLine(address, MAX_NAME_LENGTH)}": ${matching}. Give one id.`,
    );
  }
  return { id: view.agent.id, agents, view };
};

export const backgroundAgentIds = (agents: Agents | undefined): readonly string[] =>
  shortList(agents?.list() ?? []);

/** Returns ids with names, unfinished agents first, at most `MAX_IDS`. */
const shortList = (all: readonly ChildView[]): readonly string[] => {
  const isOver = ({ status }: ChildView) => status === 'ended' || status === 'stopped';
  const sorted = all.toSorted((a, b) => Number(isOver(a)) - Number(isOver(b)));
  const ids = sorted.slice(0, MAX_IDS).map(({ agent: { id, name } }) => {
    return name === undefined ? id : `${id} (${shownName(name)})`;
  });
  const more = all.length - ids.length;
  return more === 0 ? ids : [...ids, `and ${more} more`];
};

/** Returns the report of an agent, or its status if it has not reported yet. */
export const showBackgroundAgent = ({ id, agents, view: found }: BackgroundAgent): ToolOutcome => {
  const [view = found] = agents.find(id);
  const { status, turns, cost, report, letter } = view;
  return {
    content: report === undefined ? statusLine(view) : agentReport(report),
    isDefused: true,
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
  queued: 'waits for a slot',
  idle: 'is idle until it gets a message',
  ended: 'has ended without a report',
  stopped: 'was stopped without a report',
  lost: 'has not ended, but no process runs it',
} as const;
