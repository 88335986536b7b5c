/** Converts feed items to messages. Contents are parsed only when a program reads them. */
import { randomUUID } from 'node:crypto';
import type { FeedItem } from '../../../protocol/session/feed.js';
import { wireUsage } from './run-result-builder.js';
import type {
  AssistantBlock,
  AssistantMessage,
  Belonging,
  NoticeMessage,
  SkeinMessage,
  ToolResultBlock,
  UserMessage,
} from './skein-message.js';

/** Returns undefined for items that other messages cover: denials and the end are in the result. */
export const toMessage = (
  item: FeedItem,
  session_id: string,
  parent_tool_use_id: string | null = null,
): SkeinMessage | undefined => {
  const belonging = belongingOf(session_id, parent_tool_use_id);
  switch (item.type) {
    case 'request.started': {
      const { turn, attempt, model } = item;
      const type = { type: 'system', subtype: 'request_started' } as const;
      return { ...type, turn, attempt, model, ...belonging };
    }
    case 'stream.event':
      return { type: 'stream_event', event: item.event, ...belonging };
    case 'assistant.message':
      return assistantMessage(item, belonging);
    case 'tool.started': {
      const { call, tool, input, description } = item;
      return { type: 'tool_call', tool_use_id: call, name: tool, input, description, ...belonging };
    }
    case 'tool.progress':
      return { type: 'tool_progress', tool_use_id: item.call, note: item.note, ...belonging };
    case 'tool.results':
      return userMessage(item.content, belonging);
    case 'attempt.discarded': {
      const { turn, attempt, reason } = item;
      const type = { type: 'system', subtype: 'attempt_discarded' } as const;
      return { ...type, turn, attempt, reason, ...belonging };
    }
    case 'question.asked':
      return { type: 'permission_request', request: item.question, ...belonging };
    case 'context.compacted':
      return {
        type: 'system',
        subtype: 'compact_boundary',
        summary: item.summary,
        ...belonging,
      };
    case 'notice':
      return noticeMessage(item.text, belonging);
    case 'todos.changed':
      return { type: 'system', subtype: 'todos', todos: item.todos, ...belonging };
    case 'agent.feed':
      return toMessage(item.item, session_id, item.agent.call);
    case 'tool.ended':
    case 'person.asked':
    case 'call.denied':
    case 'run.ended':
    // TaskMessages makes the messages about agents.
    case 'agent.spawned':
    case 'agent.seen':
    case 'agent.ended':
    case 'agent.rested':
    case 'fan-out.previewed':
      return undefined;
    default:
      return item satisfies never;
  }
};

export const noticeMessage = (text: string, belonging: Belonging): NoticeMessage => ({
  type: 'system',
  subtype: 'notice',
  text,
  ...belonging,
});

/** Returns the last fields of a message, with a new uuid. `parent_tool_use_id`: null for the lead. */
export const belongingOf = (
  session_id: string,
  parent_tool_use_id: string | null = null,
): Belonging => ({ parent_tool_use_id, session_id, uuid: randomUUID() });

const assistantMessage = (
  item: Extract<FeedItem, { type: 'assistant.message' }>,
  belonging: Belonging,
): AssistantMessage => {
  const { messageId: id, model, stopReason: stop_reason, usage } = item;
  const content = lazy(() => JSON.parse(item.content) as AssistantBlock[]);
  return {
    type: 'assistant',
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model,
      get content() {
        return content();
      },
      stop_reason,
      stop_sequence: null,
      usage: wireUsage(usage),
    },
    ...belonging,
  };
};

const userMessage = (raw: string, belonging: Belonging): UserMessage => {
  const content = lazy(() => JSON.parse(raw) as ToolResultBlock[]);
  return {
    type: 'user',
    message: {
      role: 'user',
      get content() {
        return content();
      },
    },
    ...belonging,
  };
};

const lazy = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};
