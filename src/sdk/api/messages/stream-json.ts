/** The lines of `--output-format stream-json`, in the vocabulary that agent clients parse. */
import type { LeadSession } from '../../../actors/session/session.js';
import type { PermissionMode } from '../../../protocol/permission/permission.js';
import type { FeedItem } from '../../../protocol/session/feed.js';
import type { InitMessage } from './messages.js';
import { wireUsage } from './run-result.js';

export interface InitFacts {
  readonly tools: readonly string[];
  /** Types of agents that can be asked for. */
  readonly agents: readonly string[];
  readonly permissionMode: PermissionMode;
  readonly version: string;
}

/** The first message of a run; the same as a line and as an object. */
export const initMessage = (session: LeadSession, facts: InitFacts, uuid: string): InitMessage => ({
  type: 'system',
  subtype: 'init',
  session_id: session.id,
  cwd: session.meta.cwd,
  model: session.model,
  tools: facts.tools,
  agents: facts.agents,
  mcp_servers: [],
  permissionMode: facts.permissionMode,
  version: facts.version,
  uuid,
});

/** Undefined for what has no line of its own. Contents are spliced in as they are kept. */
export const feedLine = (
  item: FeedItem,
  session: string,
  parent: string | null = null,
): string | undefined => {
  if (item.type === 'agent.feed') return feedLine(item.item, session, item.agent.call);
  const fields = fieldsOf(item);
  if (fields === undefined) return undefined;
  return `${fields},"parent_tool_use_id":${JSON.stringify(parent)},"session_id":${JSON.stringify(session)}}`;
};

/** A line up to where it says whose it is. */
const fieldsOf = (item: FeedItem): string | undefined => {
  switch (item.type) {
    case 'stream.event':
      return `{"type":"stream_event","event":${JSON.stringify(item.event)}`;
    case 'assistant.message': {
      const { messageId, model, content, stopReason, usage } = item;
      const head = { id: messageId, type: 'message', role: 'assistant', model };
      const end = { stop_reason: stopReason, stop_sequence: null, usage: wireUsage(usage) };
      const message = `${open(head)},"content":${content},${JSON.stringify(end).slice(1)}`;
      return `{"type":"assistant","message":${message}`;
    }
    case 'tool.results':
      return `{"type":"user","message":{"role":"user","content":${item.content}}`;
    case 'attempt.discarded': {
      const { turn, attempt, reason } = item;
      return open({ type: 'system', subtype: 'attempt_discarded', turn, attempt, reason });
    }
    case 'context.compacted':
      return open({ type: 'system', subtype: 'compact_boundary', summary: item.summary });
    case 'notice':
      return open({ type: 'system', subtype: 'notice', text: item.text });
    default:
      return undefined;
  }
};

/** An object that goes on. */
const open = (value: object): string => JSON.stringify(value).slice(0, -1);
