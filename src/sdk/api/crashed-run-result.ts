/** Collects the messages of a run in another process, to make a result if that process crashes. */
import { randomUUID } from 'node:crypto';
import { blocksText } from '../../context/history/last-answer.js';
import type { WireBlock } from '../../protocol/model/wire-block.js';
import type { MessageUsage, ResultMessage, SkeinMessage } from './messages/skein-message.js';

export class CrashedRunResult {
  private readonly startedAt = performance.now();
  private turns = 0;
  private text = '';
  private usage: MessageUsage;

  /** `before` is the session's usage before the run. */
  constructor(before: MessageUsage = NO_USAGE) {
    this.usage = before;
  }

  take(message: SkeinMessage): void {
    if (message.type !== 'assistant') return;
    this.usage = sum(this.usage, message.message.usage);
    if (message.parent_tool_use_id !== null) return;
    this.turns += 1;
    this.text = blocksText(message.message.content as readonly unknown[] as readonly WireBlock[]);
  }

  /** Returns the result. Its cost is null, because requests in flight were paid for but not reported. */
  toMessage(session_id: string, sentence: string): ResultMessage {
    return {
      type: 'result',
      subtype: 'error_during_execution',
      is_error: true,
      result: sentence,
      errors: [sentence],
      ...(this.text !== '' && { partial_result: this.text }),
      stop_reason: 'lost',
      num_turns: this.turns,
      duration_ms: Math.round(performance.now() - this.startedAt),
      duration_api_ms: 0,
      total_cost_usd: null,
      usage: this.usage,
      modelUsage: {},
      permission_denials: [],
      session_id,
      uuid: randomUUID(),
    };
  }
}

const NO_USAGE: MessageUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
};

const sum = (a: MessageUsage, b: MessageUsage): MessageUsage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
  cache_creation_input_tokens: a.cache_creation_input_tokens + b.cache_creation_input_tokens,
  cache_creation: {
    ephemeral_5m_input_tokens:
      a.cache_creation.ephemeral_5m_input_tokens + b.cache_creation.ephemeral_5m_input_tokens,
    ephemeral_1h_input_tokens:
      a.cache_creation.ephemeral_1h_input_tokens + b.cache_creation.ephemeral_1h_input_tokens,
  },
});
