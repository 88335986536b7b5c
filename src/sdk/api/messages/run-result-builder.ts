/** Builds the result message of a run from its feed. */

import type { LeadSession } from '../../../actors/session/lead-session.js';
import { blocksText } from '../../../context/history/last-answer.js';
import type { AgentTag } from '../../../protocol/agent/agent-tag.js';
import type { Stop } from '../../../protocol/agent/stop.js';
import { uptime } from '../../../protocol/clock.js';
import type { Usage } from '../../../protocol/model/usage.js';
import type { WireBlock } from '../../../protocol/model/wire-block.js';
import type { Denial, FeedItem } from '../../../protocol/session/feed.js';
import type { MessageUsage, ModelUsage, ResultMessage } from './skein-message.js';

export class RunResultBuilder {
  text: string;
  turns = 0;
  stop: Stop | undefined;
  /** Denied calls of the lead and of its agents. */
  readonly denials: (Denial & { readonly agent?: AgentTag })[] = [];
  /** Number of lost records by agent, for agents that the store has lost records of. */
  private readonly losses = new Map<string, number>();
  private readonly began = uptime();
  private apiMs = 0;
  private requestBegan = 0;

  /** `text` is the last answer so far: the result of a resumed run that has nothing left to do. */
  constructor(text = '') {
    this.text = text;
  }

  take(item: FeedItem): void {
    switch (item.type) {
      case 'request.started':
        this.requestBegan = uptime();
        break;
      case 'attempt.discarded':
        this.apiMs += uptime() - this.requestBegan;
        break;
      case 'assistant.message':
        this.apiMs += uptime() - this.requestBegan;
        this.turns += 1;
        this.text = blocksText(JSON.parse(item.content) as WireBlock[]);
        break;
      case 'call.denied':
        this.denials.push(item.denial);
        break;
      case 'agent.feed':
        if (item.item.type === 'call.denied') {
          this.denials.push({ ...item.item.denial, agent: item.agent });
        }
        break;
      case 'notice':
        if (item.loss !== undefined) this.losses.set(item.loss.agent, item.loss.records);
        break;
      case 'run.ended':
        this.stop = item.stop;
        break;
      default:
        break;
    }
  }

  /** Returns the result: the last line of stream-json, and the only output of json. */
  toMessage(session: LeadSession, stop: Stop, uuid: string, wantsJson = false): ResultMessage {
    const { spent, budget } = session;
    const { overshoot } = budget;
    const isError = stop.reason !== 'end_turn';
    const result = isError && stop.detail !== null ? stop.detail : this.text;
    return {
      type: 'result',
      subtype: SUBTYPES[stop.reason] ?? 'error_during_execution',
      is_error: isError,
      result,
      ...(isError && { errors: [stop.detail ?? `The run stopped: ${stop.reason}.`] }),
      ...(isError && this.text !== '' && { partial_result: this.text }),
      stop_reason: stop.reason,
      num_turns: this.turns,
      duration_ms: Math.round(uptime() - this.began),
      duration_api_ms: Math.round(this.apiMs),
      total_cost_usd: spent.cost,
      ...(overshoot.usd > 0 && { budget_overshoot_usd: overshoot.usd }),
      ...(overshoot.tokens > 0 && { budget_overshoot_tokens: overshoot.tokens }),
      usage: wireUsage(spent.usage),
      modelUsage: Object.fromEntries(
        [...spent.byModel].map(([model, { usage, cost }]) => [model, modelUsage(usage, cost)]),
      ),
      permission_denials: this.denials.map(({ tool, call, input, reason, agent }) => ({
        tool_name: tool,
        tool_use_id: call,
        tool_input: input,
        reason,
        ...(agent !== undefined && { agent_id: agent.id }),
      })),
      ...(this.losses.size > 0 && {
        lost_records: [...this.losses].map(([agent_id, records]) => ({ agent_id, records })),
      }),
      ...(session.damage.length > 0 && { damage: [...session.damage] }),
      session_id: session.id,
      uuid,
      ...(wantsJson && structuredOutput(this.text)),
    };
  }
}

/** Returns the parsed answer, or an empty object if the answer is not JSON. */
const structuredOutput = (text: string): { structured_output?: unknown } => {
  try {
    return { structured_output: JSON.parse(text) };
  } catch {
    return {};
  }
};

const SUBTYPES: Readonly<Record<string, ResultMessage['subtype']>> = {
  end_turn: 'success',
  max_turns: 'error_max_turns',
  budget: 'error_max_budget_usd',
};

export const wireUsage = (usage: Usage): MessageUsage => ({
  input_tokens: usage.input,
  cache_creation_input_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
  cache_read_input_tokens: usage.cacheRead,
  output_tokens: usage.output,
  cache_creation: {
    ephemeral_5m_input_tokens: usage.cacheWrite5m,
    ephemeral_1h_input_tokens: usage.cacheWrite1h,
  },
  ...(usage.webSearches !== undefined && {
    server_tool_use: { web_search_requests: usage.webSearches },
  }),
});

const modelUsage = (usage: Usage, costUSD: number | null): ModelUsage => ({
  inputTokens: usage.input,
  outputTokens: usage.output,
  cacheReadInputTokens: usage.cacheRead,
  cacheCreationInputTokens: usage.cacheWrite5m + usage.cacheWrite1h,
  ...(usage.webSearches !== undefined && { webSearchRequests: usage.webSearches }),
  costUSD,
});
