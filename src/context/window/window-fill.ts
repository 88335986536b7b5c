/**
 * What fills a context window, by kind. A server counts a prompt as a whole: the kinds are estimated
 * at four bytes a token and fitted to what it counted.
 */

import type { WireBlock } from '../../protocol/model/wire.js';
import type { JournalRecord } from '../../protocol/session/journal.js';
import { accountFor } from '../history/conversation.js';
import { History } from '../history/history.js';
import type { HistoryMessage } from '../history/history-message.js';
import { tokensOfBytes, weightOf } from './tokens.js';
import type { WindowMarks } from './window.js';

/** In the order of a prompt, as far as it has one. */
export const FILL_KINDS = ['system', 'tools', 'memory', 'messages', 'results'] as const;
export type FillKind = (typeof FILL_KINDS)[number];

/** Bytes of text that each kind counts for. */
export type FillWeights = Readonly<Record<FillKind, number>>;

export interface FillPart {
  readonly kind: FillKind;
  /** Of `usedTokens`. */
  readonly tokens: number;
  /** At four bytes each, as if nobody had counted. */
  readonly estimatedTokens: number;
}

export interface WindowFill {
  readonly parts: readonly FillPart[];
  readonly usedTokens: number;
  /** What of it the server counted with the last answer. */
  readonly countedTokens: number;
  /** Never below 0: a prompt may be longer than the window. */
  readonly freeTokens: number;
}

/** The history of an agent, with an eye on what it was told beside what people said. */
export class WindowFold {
  readonly history = new History();
  private readonly told = new Set<string>();

  /** `counts` is false for what a rewind took out of the conversation. */
  apply(record: JournalRecord, counts = true): void {
    if (!counts) {
      accountFor(this.history, record);
      return;
    }
    this.history.apply(record);
    if (record.type === 'prompt.broken' && record.briefing) this.told.add(record.briefing.text);
    if (record.type !== 'user.sent') return;
    for (const part of record.parts) {
      if ('briefing' in part) this.told.add(part.briefing);
      else if ('reminder' in part) this.told.add(part.text);
    }
  }

  /** Of the messages as the next request has them. */
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
      else if (this.told.has(String(block.text))) found.memory += weightOfBlock(block);
    }
    return found;
  }
}

const weightOfBlock = (block: WireBlock): number => {
  const raw = JSON.stringify(block);
  return weightOf(Buffer.byteLength(raw), `[${raw}]`);
};

/** `usedTokens` is what the next prompt is taken for; without it everything is estimated. */
export const windowFill = (
  weights: FillWeights,
  { window }: Pick<WindowMarks, 'window'>,
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

/** Whole tokens in proportion to the weights, that add up to the total. */
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

/** The shares of a window that are a good measure (X4): for an answer, for tools, for the system. */
export const budgetSplit = (window: number) => ({
  output: Math.floor((window * 15) / 100),
  tools: Math.floor((window * 15) / 100),
  system: Math.floor((window * 20) / 100),
});

/** Which of them is exceeded; of an answer, that there is less room than its share. */
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

/** What a piece of text is taken for. */
export const estimatedTokens = (text: string): number => tokensOfBytes(Buffer.byteLength(text));
