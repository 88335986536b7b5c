/** What fills the window of a session, folded from what is stored: no key, no lease, no trace. */

import { readHead } from '../../actors/prompt-cache/prompt-head-manager.js';
import { conversationOf, type Step, stepOf } from '../../context/history/conversation.js';
import { windowMarks } from '../../context/window/window.js';
import {
  budgetSplit,
  estimatedTokens,
  exceededShares,
  type FillKind,
  type FillWeights,
  WindowFold,
  windowFill,
} from '../../context/window/window-fill.js';
import { sectionTexts } from '../../prompt/system/head-text.js';
import type { Preamble } from '../../protocol/model/context-provider.js';
import type { PromptHead } from '../../protocol/model/prompt.js';
import { rawText } from '../../protocol/model/wire.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/store.js';

export interface WindowReport {
  /** Null of what a new session would begin with. */
  readonly session: string | null;
  readonly agent: string | null;
  readonly model: string;
  readonly window: number;
  /** What is left for a prompt once an answer has room. */
  readonly usable: number;
  readonly warnAbove: number;
  readonly compactAbove: number;
  readonly usedTokens: number;
  /** By the server, with the last answer; 0 when nothing was counted since the last break. */
  readonly countedTokens: number;
  readonly freeTokens: number;
  readonly usedPercent: number;
  readonly parts: readonly WindowPart[];
  /** Good measures that are exceeded, with what they would allow. */
  readonly exceeded: readonly WindowExcess[];
  readonly messages: number;
  readonly turns: number;
  /** Estimated, in the order of the prompt; none where the session is older than its records of them. */
  readonly sections: readonly { readonly name: string; readonly tokens: number }[];
  readonly tools: readonly { readonly name: string; readonly tokens: number }[];
  /** Sentences for people: what could not be counted. */
  readonly notices: readonly string[];
}

export interface WindowPart {
  readonly kind: FillKind | 'free';
  readonly tokens: number;
  /** Of the window. */
  readonly percent: number;
  /** At four bytes each, before it was fitted to the count; null of what is free. */
  readonly estimatedTokens: number | null;
}

export interface WindowExcess {
  readonly kind: 'system' | 'tools' | 'output';
  readonly share: number;
}

/** An agent's window as it stands; `contextWindow` is what a person has set. */
export const windowOfAgent = async (
  store: Pick<SessionStore, 'records' | 'peekArtifact'>,
  { id, model, lead }: Pick<SessionMeta, 'id' | 'model' | 'lead'>,
  agent: string = lead,
  contextWindow?: number,
): Promise<WindowReport> => {
  const fold = new WindowFold();
  const steps: Step[] = [];
  for await (const record of store.records(id, agent)) steps.push(stepOf(record));
  const counts = conversationOf(steps);
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
  'The head of its prompt cannot be read, so the system prompt and the tools are not told apart.';

/** What a new session would begin with, before anybody has said anything. */
export const windowOfBeginning = (
  model: string,
  head: PromptHead,
  opening: Preamble,
  contextWindow?: number,
): WindowReport => {
  const memory = opening.text === '' ? 0 : Buffer.byteLength(rawText(opening.text));
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

const report = (measured: Measured): WindowReport => {
  const { session, agent, model, head, messages, turns, notices } = measured;
  const marks = windowMarks(model, measured.contextWindow);
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

const sectionSizes = (head: PromptHead): WindowReport['sections'] =>
  [...sectionTexts(head)].map(([name, text]) => ({ name, tokens: estimatedTokens(text) }));

const toolSizes = ({ tools }: PromptHead): WindowReport['tools'] =>
  (JSON.parse(tools) as readonly { readonly name?: unknown }[]).map((tool) => ({
    name: String(tool.name),
    tokens: estimatedTokens(JSON.stringify(tool)),
  }));

/** Undefined where it is missing or is none: a session is worth a look all the same. */
const headNamed = async (
  store: Pick<SessionStore, 'peekArtifact'>,
  id: string,
  name: string,
): Promise<PromptHead | undefined> => {
  try {
    const head = await readHead(name, (it) => store.peekArtifact(id, it));
    // Whatever cannot be looked into is no head.
    sectionSizes(head);
    toolSizes(head);
    return head;
  } catch {
    return undefined;
  }
};
