/** What a lead tells its listeners of agents that other processes work on: how far they are, and what they were denied. */

import type { WireBlock } from '../../protocol/model/wire.js';
import type { SwarmEvent } from '../../protocol/session/events.js';
import type { Denial, Feed } from '../../protocol/session/feed.js';
import type { JournalRecord } from '../../protocol/session/journal.js';
import { agentLabel } from '../../tools/agents/agent-report.js';
import type { AgentNode } from '../tree/agent-node.js';
import type { AgentRegistry } from '../tree/agent-registry.js';

export interface RemoteFeedDeps {
  readonly feed: Feed;
  readonly roster: AgentRegistry;
  readonly records: (agent: string) => AsyncIterable<JournalRecord>;
  /** An agent that works here; the lead wherever it is. */
  readonly memberOf: (id: string) => AgentNode | undefined;
}

export class RemoteFeed {
  private readonly deps: RemoteFeedDeps;
  /** By agent: calls that were denied, of which nobody was told. */
  private readonly denied = new Map<string, Set<string>>();

  constructor(deps: RemoteFeedDeps) {
    this.deps = deps;
  }

  take(event: SwarmEvent): void {
    const { feed, roster, memberOf } = this.deps;
    const { agent, type, outcome, call } = event;
    const tag = roster.get(agent)?.tag;
    if (tag === undefined) return;
    // Of those below it nobody here is told that they begin, or end.
    if (memberOf(tag.parent) !== undefined) feed.emit({ type: 'agent.seen', agent: tag, event });
    if (type === 'agent.queued' && typeof event.worker === 'string') {
      feed.emit({ type: 'notice', text: `${agentLabel(tag)} waits: ${String(event.reason)}` });
    }
    if (type !== 'tool.ended' || outcome !== 'denied' || typeof call !== 'string') return;
    this.denied.set(agent, (this.denied.get(agent) ?? new Set()).add(call));
  }

  /** What an event does not say is in the journal. Rejects with a SkeinError; then it is told later. */
  async settle(): Promise<void> {
    const { feed, roster, records } = this.deps;
    for (const [id, calls] of this.denied) {
      const tag = roster.get(id)?.tag;
      for (const denial of await denialsIn(records(id), calls)) {
        calls.delete(denial.call);
        const item = { type: 'call.denied', denial } as const;
        if (tag !== undefined) feed.emit({ type: 'agent.feed', agent: tag, item });
      }
      if (calls.size === 0) this.denied.delete(id);
    }
  }
}

/** A call may be denied before the message that asks for it has ended: then it is found later. */
const denialsIn = async (
  records: AsyncIterable<JournalRecord>,
  calls: ReadonlySet<string>,
): Promise<readonly Denial[]> => {
  const inputs = new Map<string, unknown>();
  const ended = new Map<string, Omit<Denial, 'input'>>();
  for await (const record of records) {
    if (record.type === 'assistant.received') {
      for (const { type, id, input } of JSON.parse(record.raw) as WireBlock[]) {
        if (type === 'tool_use' && calls.has(String(id))) inputs.set(String(id), input);
      }
    } else if (record.type === 'call.ended' && calls.has(record.call)) {
      const { call, tool } = record;
      const { content } = JSON.parse(record.raw) as { content?: unknown };
      ended.set(call, { tool, call, reason: String(content) });
    }
  }
  return [...ended.values()].flatMap((denial) =>
    inputs.has(denial.call) ? [{ ...denial, input: inputs.get(denial.call) }] : [],
  );
};
