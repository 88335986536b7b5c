/** Makes the lines of `--output-format stream-json`. */
import { randomUUID } from 'node:crypto';
import type { FeedItem } from '../../../protocol/session/feed.js';
import { wireUsage } from './run-result-builder.js';

/** Returns undefined for items without a line. Contents are inserted as raw JSON, byte for byte. */
export const streamJsonLine = (
  item: FeedItem,
  session: string,
  parent: string | null = null,
): string | undefined => {
  if (item.type === 'agent.feed') return streamJsonLine(item.item, session, item.agent.call);
  const fields = fieldsOf(item);
  if (fields === undefined) return undefined;
  const ids = { parent_tool_use_id: parent, session_id: session, uuid: randomUUID() };
  return `${fields},${JSON.stringify(ids).slice(1)}`;
};

/** Returns the line without its last fields and its closing brace. */
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

/** Returns the JSON of an object without its closing brace. */
const open = (value: object): string => JSON.stringify(value).slice(0, -1);
