/** Feed items of child agents. */
import type { AgentTag } from '../../../src/protocol/agent/agent-tag.js';
import type { ChildReport } from '../../../src/protocol/agent/child-report.js';
import type { Stop } from '../../../src/protocol/agent/stop.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import type { FeedItem } from '../../../src/protocol/session/feed.js';

export const childTag = (change: Partial<AgentTag> = {}): AgentTag => ({
  id: 'ag_1',
  parent: 'ag_lead',
  kind: 'sync',
  type: 'explorer',
  call: 'toolu_1',
  description: 'Find the parser',
  depth: 1,
  ...change,
});

export const spawned = (agent = childTag(), isQueued = false): FeedItem => ({
  type: 'agent.spawned',
  agent,
  model: 'claude-sonnet-5',
  isQueued,
  prompt: 'Look for it.',
});

export const fed = (item: FeedItem, agent = childTag()): FeedItem => ({
  type: 'agent.feed',
  agent,
  item,
});

export const childReport = (
  change: Partial<ChildReport> = {},
  stop: Stop = { reason: 'end_turn', detail: null },
): ChildReport => ({
  agent: childTag(),
  stop,
  text: 'It is in src/parser.ts:12.',
  turns: 3,
  cost: 0.0123,
  tokens: 4_567,
  changedFiles: [],
  ...change,
});

export const childEnded = (report = childReport()): FeedItem => ({ type: 'agent.ended', report });

export const childSays = (content = '[]', agent = childTag()): FeedItem =>
  fed(
    {
      type: 'assistant.message',
      messageId: 'msg_1',
      model: 'claude-sonnet-5',
      content,
      stopReason: 'end_turn',
      usage: { ...NO_USAGE, input: 1_000, output: 10 },
    },
    agent,
  );

export const childUses = (tool: string, agent = childTag()): FeedItem =>
  fed({ type: 'tool.started', call: 'toolu_9', tool, input: {}, description: `${tool} x` }, agent);
