/** A LiveState with recorded output, and feed items for it. */

import type { AgentTag } from '../../../src/protocol/agent/agent-tag.js';
import type { FeedItem } from '../../../src/protocol/session/feed.js';
import { paintFor } from '../../../src/terminal/terminal.js';
import { glyphsFor } from '../../../src/ui/screen/glyphs.js';
import { LiveState } from '../../../src/ui/session/live-state.js';

export const liveStateOn = (columns = 40, paint = paintFor(false)) => {
  let output = '';
  let now = 0;
  const live = new LiveState({
    paint,
    glyphs: glyphsFor(true),
    columns: () => columns,
    now: () => now,
    print: (text) => {
      output += text;
    },
    clear: () => {},
    isActive: () => false,
    onDraftChange: () => {},
  });
  const wait = (ms: number) => {
    now += ms;
  };
  return { live, wait, output: () => output };
};

export const started = (change: Partial<Extract<FeedItem, { type: 'tool.started' }>> = {}) => ({
  type: 'tool.started' as const,
  call: 'toolu_1',
  tool: 'Bash',
  description: 'Bash npm test',
  input: { command: 'npm test' },
  ...change,
});

export const ended = (
  content: string,
  change: Partial<Extract<FeedItem, { type: 'tool.ended' }>> = {},
) => ({
  type: 'tool.ended' as const,
  call: 'toolu_1',
  tool: 'Bash',
  outcome: 'ok' as const,
  input: { command: 'npm test' },
  description: 'Bash npm test',
  raw: JSON.stringify({ type: 'tool_result', tool_use_id: 'toolu_1', content }),
  ...change,
});

export const tag = (change: Partial<AgentTag> = {}): AgentTag => ({
  id: 'a_12345678',
  parent: 'a_lead',
  kind: 'sync',
  type: 'explorer',
  depth: 1,
  description: 'look around',
  call: 'toolu_9',
  ...change,
});
