/** Reports what fills an agent's context window, from the store, without a key or a lease. */
import { readHead } from '../../actors/prompt-cache/prompt-head-manager.js';
import {
  type ConversationStep,
  conversationRecords,
  conversationStep,
} from '../../context/history/conversation-records.js';
import { tokensOfText } from '../../context/window/text-weight.js';
import { windowThresholds } from '../../context/window/window-thresholds.js';
import {
  budgetSplit,
  exceededShares,
  type FillKind,
  type FillWeights,
  WindowFold,
  windowFill,
} from '../../context/window-fill.js';
import { sectionTexts } from '../../prompt/system/section-texts.js';
import type { Preamble } from '../../protocol/model/context-provider.js';
import type { PromptHead } from '../../protocol/model/prompt-head.js';
import { rawText } from '../../protocol/model/wire-block.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/session-store.js';

export interface ContextWindowReport {
  /** Null for the report of a new session. */
  readonly session: string | null;
  readonly agent: string | null;
  readonly model: string;
  readonly window: number;
  /** Window without the tokens that are reserved for the response. */
  readonly usable: number;
  readonly warnAbove: number;
  readonly compactAbove: number;
  readonly usedTokens: number;
  /** Tokens that the server counted for the last response. 0 if there was none since the last break. */
  readonly countedTokens: number;
  readonly freeTokens: number;
  readonly usedPercent: number;
  readonly parts: readonly WindowPart[];
  /** Parts that exceed their recommended share of the window. */
  readonly exceeded: readonly WindowExcess[];
  readonly messages: number;
  readonly turns: number;
  /** Estimated tokens of each section, in prompt order. Empty for sessions of old versions. */
  readonly sections: readonly { readonly name: string; readonly tokens: number }[];
  readonly tools: readonly { readonly name: string; readonly tokens: number }[];
  /** Sentences about parts that could not be counted. */
  readonly notices: readonly string[];
}

export interface WindowPart {
  readonly kind: FillKind | 'free';
  readonly tokens: number;
  /** Percentage of the window. */
  readonly percent: number;
  /** Estimate at four bytes per token, before it is scaled to the server's count. Null for free space. */
  readonly estimatedTokens: number | null;
}

export interface WindowExcess {
  readonly kind: 'system' | 'tools' | 'output';
  readonly share: number;
}

/** Returns the report of a stored agent. `contextWindow` is the setting of that name. */
export const agentWindowReport = async (
  store: Pick<SessionStore, 'records' | 'readArtifact'>,
  { id, model, lead }: Pick<SessionMeta, 'id' | 'model' | 'lead'>,
  agent: string = lead,
  contextWindow?: number,
): Promise<ContextWindowReport> => {
  const fold = new WindowFold();
  const steps: ConversationStep[] = [];
  for await (const record of store.records(id, agent)) steps.push(conversationStep(record));
  const counts = conversationRecords(steps);
  for await (const record of store.records(id, agent)) fold.apply(record, counts.has(record.seq));
  const { history } = fold;
  const head = await headNamed(store, id, history.prompt);
  if (head !== undefined) history.promptBytes = bytesOf(head.tools) + bytesOf(head.system);
  const weights = { ...headWeights(head), ...fold.weights() };
  const used = { tokens: history.tokens, counted: history.countedTokens };
  return report({
    session: id,
    agent,
    model: history.model || model,
    contextWindow,
    head,
    weights,
    used,
    messages: history.messages.length,
    turns: history.turns,
    notices: head === undefined ? [HEADLESS] : [],
  });
};

const HEADLESS =
  'The prompt head of the session cannot be read, so the system prompt and the tools are not shown apart.';

/** Returns the report of a new session before its first prompt. */
export const newSessionWindowReport = (
  model: string,
  head: PromptHead,
  preamble: Preamble,
  contextWindow?: number,
): ContextWindowReport => {
  const memory = preamble.text === '' ? 0 : Buffer.byteLength(rawText(preamble.text));
  return report({
    session: null,
    agent: null,
    model,
    contextWindow,
    head,
    messages: 0,
    turns: 0,
    weights: { ...headWeights(head), memory, messages: 0, results: 0 },
    used: undefined,
    notices: [],
  });
};

interface Measured {
  readonly session: string | null;
  readonly agent: string | null;
  readonly model: string;
  readonly contextWindow: number | undefined;
  readonly head: PromptHead | undefined;
  readonly weights: FillWeights;
  readonly used: { readonly tokens: number; readonly counted: number } | undefined;
  readonly messages: number;
  readonly turns: number;
  readonly notices: readonly string[];
}

const report = (measured: Measured): ContextWindowReport => {
  const { session, agent, model, head, messages, turns, notices } = measured;
  const marks = windowThresholds(model, measured.contextWindow);
  const fill = windowFill(measured.weights, marks, measured.used);
  const { usedTokens, countedTokens, freeTokens } = fill;
  const percent = (tokens: number) => Math.round((tokens / marks.window) * 1_000) / 10;
  const split = budgetSplit(marks.window);
  const parts: WindowPart[] = fill.parts.map((part) => ({
    ...part,
    percent: percent(part.tokens),
  }));
  return {
    session,
    agent,
    model,
    window: marks.window,
    usable: marks.usable,
    warnAbove: marks.warnAbove,
    compactAbove: marks.compactAbove,
    usedTokens,
    countedTokens,
    freeTokens,
    usedPercent: percent(usedTokens),
    parts: [
      ...parts,
      { kind: 'free', tokens: freeTokens, percent: percent(freeTokens), estimatedTokens: null },
    ],
    exceeded: exceededShares(fill, marks.window).map((kind) => ({ kind, share: split[kind] })),
    messages,
    turns,
    sections: head === undefined ? [] : sectionSizes(head),
    tools: head === undefined ? [] : toolSizes(head),
    notices,
  };
};

const headWeights = (head: PromptHead | undefined): Pick<FillWeights, 'system' | 'tools'> => ({
  system: bytesOf(head?.system ?? ''),
  tools: bytesOf(head?.tools ?? ''),
});

const bytesOf = (text: string): number => Buffer.byteLength(text);

const sectionSizes = (head: PromptHead): ContextWindowReport['sections'] =>
  [...sectionTexts(head)].map(([name, text]) => ({ name, tokens: tokensOfText(text) }));

const toolSizes = ({ tools }: PromptHead): ContextWindowReport['tools'] =>
  (JSON.parse(tools) as readonly { readonly name?: unknown }[]).map((tool) => ({
    name: String(tool.name),
    tokens: tokensOfText(JSON.stringify(tool)),
  }));

/** Returns undefined if the head is missing or damaged, because the rest of the report is still useful. */
const headNamed = async (
  store: Pick<SessionStore, 'readArtifact'>,
  id: string,
  name: string,
): Promise<PromptHead | undefined> => {
  try {
    const head = await readHead(name, (artifact) => store.readArtifact(id, artifact));
    // Both throw if the head is damaged.
    sectionSizes(head);
    toolSizes(head);
    return head;
  } catch {
    return undefined;
  }
};
