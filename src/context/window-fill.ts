/**
 * Window fill: tokens of a context window by kind of content. A server counts only the whole
 * prompt, so the kinds are estimated at four bytes per token and scaled to the server's count.
 */

import type { WireBlock } from '../protocol/model/wire-block.js';
import type { JournalRecord } from '../protocol/session/journal-record.js';
import { applyRewound } from './history/conversation-records.js';
import { History } from './history/history.js';
import type { HistoryMessage } from './history/history-message.js';
import { textWeight, tokensOfBytes } from './window/text-weight.js';
import type { WindowThresholds } from './window/window-thresholds.js';

/** Kinds in prompt order; memory, messages and results are mixed. */
export const FILL_KINDS = ['system', 'tools', 'memory', 'messages', 'results'] as const;
export type FillKind = (typeof FILL_KINDS)[number];

/** Text weight of each kind, in bytes. */
export type FillWeights = Readonly<Record<FillKind, number>>;

interface FillPart {
  readonly kind: FillKind;
  /** Share of `usedTokens`. */
  readonly tokens: number;
  /** Estimate at four bytes per token, without the server's count. */
  readonly estimatedTokens: number;
}

interface WindowFill {
  readonly parts: readonly FillPart[];
  readonly usedTokens: number;
  /** Part of `usedTokens` that the server counted with the last answer. */
  readonly countedTokens: number;
  /** Tokens left in the window; 0 if the prompt is longer than the window. */
  readonly freeTokens: number;
}

/** Folds a history and remembers which texts came from preambles and reminders. */
export class WindowFold {
  readonly history = new History();
  private readonly announced = new Set<string>();

  /** `counts` is false for a record that a rewind removed from the conversation. */
  apply(record: JournalRecord, counts = true): void {
    if (!counts) {
      applyRewound(this.history, record);
      return;
    }
    this.history.apply(record);
    if (record.type === 'prompt.broken' && record.briefing)
      this.announce(record.briefing.text, record.briefing.role);
    if (record.type !== 'user.sent') return;
    for (const part of record.parts) {
      if ('briefing' in part) this.announce(part.briefing, part.role);
      else if ('reminder' in part) this.announced.add(part.text);
    }
  }

  private announce(text: string, role: string | undefined): void {
    this.announced.add(text);
    if (role !== undefined) this.announced.add(role);
  }

  /** Returns the weights of the next request's messages. */
  weights(): Pick<FillWeights, 'memory' | 'messages' | 'results'> {
    const sum = { memory: 0, messages: 0, results: 0 };
    for (const message of this.history.messages) {
      const { memory, results } = this.weigh(message);
      sum.memory += memory;
      sum.results += results;
      sum.messages += Math.max(0, message.weight - memory - results);
    }
    return sum;
  }

  private weigh({ role, bytes }: HistoryMessage): { memory: number; results: number } {
    const found = { memory: 0, results: 0 };
    if (role === 'assistant') return found;
    const { content } = JSON.parse(bytes.toString()) as { content: WireBlock[] };
    for (const block of content) {
      if (block.type === 'tool_result') found.results += weightOfBlock(block);
      else if (this.announced.has(String(block.text))) found.memory += weightOfBlock(block);
    }
    return found;
  }
}

const weightOfBlock = (block: WireBlock): number => {
  const raw = JSON.stringify(block);
  return textWeight(Buffer.byteLength(raw), `[${raw}]`);
};

/** `used` are the tokens of the next prompt. Without it all figures are estimates. */
export const windowFill = (
  weights: FillWeights,
  { window }: Pick<WindowThresholds, 'window'>,
  used?: { readonly tokens: number; readonly counted: number },
): WindowFill => {
  const all = FILL_KINDS.map((kind) => weights[kind]);
  const usedTokens = used?.tokens ?? tokensOfBytes(all.reduce((sum, weight) => sum + weight, 0));
  const fitted = inProportion(all, usedTokens);
  return {
    parts: FILL_KINDS.map((kind, index) => ({
      kind,
      tokens: fitted[index] ?? 0,
      estimatedTokens: tokensOfBytes(weights[kind]),
    })),
    usedTokens,
    countedTokens: Math.min(used?.counted ?? 0, usedTokens),
    freeTokens: Math.max(0, window - usedTokens),
  };
};

/** Splits `total` into whole numbers in proportion to the weights. */
const inProportion = (weights: readonly number[], total: number): readonly number[] => {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  if (sum <= 0) return weights.map(() => 0);
  let weightBefore = 0;
  let tokensBefore = 0;
  return weights.map((weight) => {
    weightBefore += weight;
    const upTo = Math.round((weightBefore / sum) * total);
    const tokens = upTo - tokensBefore;
    tokensBefore = upTo;
    return tokens;
  });
};

/** Recommended shares of a window: for the answer, the tools and the system prompt. */
export const budgetSplit = (window: number) => ({
  output: Math.floor((window * 15) / 100),
  tools: Math.floor((window * 15) / 100),
  system: Math.floor((window * 20) / 100),
});

/**
 * Returns the exceeded shares. `output` is exceeded if the free tokens are fewer than its share.
 */
export const exceededShares = (
  { parts, freeTokens }: WindowFill,
  window: number,
): readonly ('output' | 'tools' | 'system')[] => {
  const split = budgetSplit(window);
  const over = (kind: 'tools' | 'system') =>
    parts.some((part) => part.kind === kind && part.tokens > split[kind]);
  return [
    ...(over('system') ? (['system'] as const) : []),
    ...(over('tools') ? (['tools'] as const) : []),
    ...(freeTokens < split.output ? (['output'] as const) : []),
  ];
};
