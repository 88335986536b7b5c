/**
 * Fills the slot `compactor`: shortens the conversation and declares the break.
 *
 * The model writes a summary of the older messages in one request on the same prefix. If there is
 * no summary and the server has refused the prompt, the oldest rounds are dropped.
 */
import type { EventObject } from 'xstate';
import type { History } from '../../context/history/history.js';
import { withoutThinking } from '../../context/history/history-message.js';
import { planCompaction } from '../../context/window/plan-compaction.js';
import {
  type MessageDrop,
  planResultDrop,
  planTruncation,
  RESULTS_NOTICE,
  TRUNCATION_NOTICE,
} from '../../context/window/plan-truncation.js';
import { tokensOfBytes } from '../../context/window/text-weight.js';
import type { WindowThresholds } from '../../context/window/window-thresholds.js';
import type { SlotWork } from '../../machines/slot.js';
import { summaryDirective, summaryText } from '../../prompt/messages/summary-text.js';
import { directiveBody } from '../../prompt/request/request-body.js';
import type { AgentEvent, CompactionInput } from '../../protocol/agent/agent-state.js';
import type { Ids } from '../../protocol/ids.js';
import type { ContextProvider } from '../../protocol/model/context-provider.js';
import { SideRequestFailure } from '../../protocol/model/side-request.js';
import { rawText } from '../../protocol/model/wire-block.js';
import type { Hooks } from '../../protocol/permission/hooks.js';
import type { Feed } from '../../protocol/session/feed.js';
import { StorageError, UsageError } from '../../protocol/skein-error.js';
import { fireSessionStart } from '../hooks/session-hooks.js';
import type { PromptHeadManager } from '../prompt-cache/prompt-head-manager.js';
import { type SideRequestDeps, sideRequest } from './side-request.js';

interface CompactorDeps extends SideRequestDeps {
  readonly feed: Feed;
  readonly promptHead: PromptHeadManager;
  readonly contextProvider: ContextProvider;
  readonly windowOf: (model: string) => WindowThresholds;
  readonly hooks: Hooks;
  readonly ids: Ids;
  readonly onDefect: (error: unknown) => void;
}

/** Compaction that a person requested, with the promise to settle. */
export interface CompactionRequest {
  readonly instructions: string;
  readonly resolve: (sentence: string) => void;
  readonly reject: (error: Error) => void;
}

/** Maximum share of the prompt limit for messages that are kept unchanged. */
const TAIL_SHARE = 0.5;

const NOTHING_TO_DROP =
  'The conversation does not fit the context window, and nothing is left to drop; `skein rewind` removes the newest prompt, or start a new session with a shorter one.';
const NOTHING_OLDER = 'There is too little to summarise yet.';
const CANCELLED = new UsageError('The compaction was cancelled.');

export const compactor =
  (
    deps: CompactorDeps,
    takeRequest: () => CompactionRequest | undefined,
  ): SlotWork<EventObject, CompactionInput> =>
  ({ input, sendBack }) => {
    const controller = new AbortController();
    const request = input.why === 'asked' ? takeRequest() : undefined;
    let isOver = false;
    const send = (event: AgentEvent) => {
      if (!isOver) sendBack(event);
    };
    // The conversation is cached for the model that answered last.
    const modelName = deps.journal.history.model || deps.modelName;
    const { compactAbove } = smallerOf(deps.windowOf(modelName), deps.windowOf(deps.modelName));
    const tailTokens = compactAbove * TAIL_SHARE;
    const instructions = request?.instructions ?? '';
    const options = { ...input, tailTokens, maxTokens: compactAbove, instructions };
    compact({ ...deps, modelName }, options, controller.signal)
      .then(({ event, text }) => {
        if (event.type === 'context.compacted') request?.resolve(text);
        else request?.reject(new UsageError(text));
        if (event.type === 'compaction.declined' && request === undefined) {
          deps.feed.emit({ type: 'notice', text: `The conversation was not compacted: ${text}` });
        }
        send(event);
      })
      .catch((error: unknown) => {
        if (error instanceof StorageError) {
          request?.reject(new UsageError(error.message));
          send({ type: 'storage.failed', detail: error.message });
          return;
        }
        request?.reject(CANCELLED);
        if (!controller.signal.aborted) deps.onDefect(error);
      });
    return () => {
      isOver = true;
      controller.abort();
    };
  };

/** Returns the smaller window, because the next model may differ from the last one. */
const smallerOf = (first: WindowThresholds, second: WindowThresholds): WindowThresholds =>
  first.window < second.window ? first : second;

interface CompactionOptions extends CompactionInput {
  readonly instructions: string;
  readonly tailTokens: number;
  /** Maximum tokens of a prompt. */
  readonly maxTokens: number;
}

interface CompactionResult {
  readonly event: AgentEvent;
  /** Sentence for people. */
  readonly text: string;
}

const compact = async (
  deps: CompactorDeps,
  options: CompactionOptions,
  signal: AbortSignal,
): Promise<CompactionResult> => {
  const { history } = deps.journal;
  // If the newest results alone do not fit, the summary replaces them and their calls too.
  const unfit = options.why === 'refused' ? unfitResults(history, options) : undefined;
  const planned = unfit ? unfit.dropped - 1 : planCompaction(history.messages, options.tailTokens);
  const cut = planned !== undefined && isWorthwhile(history, planned) ? planned : undefined;
  const { refusal, advice } =
    cut === undefined ? NOT_ASKED : await firePreCompact(deps, options, signal);
  const summaryOptions = {
    ...options,
    instructions: [options.instructions, ...advice].join('\n').trim(),
  };
  const summary =
    refusal === undefined
      ? cut && (await summarise(deps, summaryOptions, cut, signal))
      : { why: refusal };
  if (cut !== undefined && typeof summary === 'string') {
    const replaced = unfit
      ? { dropped: unfit.dropped + 1, text: `${summary}\n\n${RESULTS_NOTICE}` }
      : { dropped: cut, text: summary };
    const result = await replace(deps, replaced, signal);
    await firePostCompact(deps, options, summary, signal);
    return result;
  }
  if (unfit !== undefined) return drop(deps, unfit, RESULTS_NOTICE);
  if (options.why === 'refused') return truncate(deps, options);
  const text = cut === undefined ? NOTHING_OLDER : (summary as SummaryFailure).why;
  return { event: { type: 'compaction.declined' }, text };
};

/**
 * Plans to drop the newest results if they cannot be part of any prompt: a journal of an older
 * version, or of a model with a larger window. The server's count of the gap beats the estimate.
 */
const unfitResults = (
  { messages, tokens }: History,
  { gapTokens, maxTokens }: CompactionOptions,
): MessageDrop | undefined => {
  const accepted = gapTokens === null ? maxTokens : Math.min(maxTokens, tokens - gapTokens);
  return planResultDrop(messages, accepted);
};

const triggerOf = ({ why }: CompactionOptions): string => (why === 'asked' ? 'manual' : 'auto');

interface Advice {
  /** Reason why a hook refuses the summary. */
  readonly refusal: string | undefined;
  /** Instructions of hooks for the summary. */
  readonly advice: readonly string[];
}

const NOT_ASKED: Advice = { refusal: undefined, advice: [] };

const firePreCompact = async (
  { hooks }: CompactorDeps,
  options: CompactionOptions,
  signal: AbortSignal,
): Promise<Advice> => {
  const trigger = triggerOf(options);
  const facts = { trigger, custom_instructions: options.instructions };
  const verdict = await hooks.fire('PreCompact', facts, { subject: trigger, signal });
  signal.throwIfAborted();
  const reason = verdict.halt ?? verdict.block?.reason;
  const refusal = reason === undefined ? undefined : `A hook refused the compaction: ${reason}`;
  return { refusal, advice: verdict.context };
};

/**
 * Runs PostCompact hooks, then SessionStart hooks: a hook that adds context at the start adds it
 * again.
 */
const firePostCompact = async (
  deps: CompactorDeps,
  options: CompactionOptions,
  summary: string,
  signal: AbortSignal,
): Promise<void> => {
  const trigger = triggerOf(options);
  const facts = { trigger, compact_summary: summary };
  await deps.hooks.fire('PostCompact', facts, { subject: trigger, signal });
  await fireSessionStart(deps, 'compact', signal);
};

/** True if the older messages are longer than the shortest possible summary. */
const isWorthwhile = ({ messages, firstPrompt }: History, cut: number): boolean =>
  messages.slice(0, cut).reduce((sum, { weight }) => sum + weight, 0) >
  Buffer.byteLength(summaryText(firstPrompt, ''));

interface SummaryFailure {
  readonly why: string;
}

/**
 * Asks the model for a summary. The request repeats the whole conversation, because all of it is
 * cached; only up to the cut if the server refused the prompt as too long or if calls of the last
 * message have no result yet.
 */
const summarise = async (
  deps: CompactorDeps,
  { why, instructions }: CompactionOptions,
  cut: number,
  signal: AbortSignal,
): Promise<string | SummaryFailure> => {
  const { messages, calls } = deps.journal.history;
  const sentMessages = why === 'refused' || calls.size > 0 ? messages.slice(0, cut) : messages;
  const directive = rawText(summaryDirective(instructions));
  const body = directiveBody(deps.promptHead.headFor(deps.modelName), sentMessages, directive);
  try {
    const { countedTokens } = deps.journal.history;
    const isWhole = sentMessages === messages;
    const knownTokens = isWhole
      ? countedTokens
      : Math.min(countedTokens, tokensOfBytes(body.length));
    const maxOutputTokens = deps.promptHead.outputLimit(deps.modelName);
    const request = { purpose: 'summary', call: null, body, knownTokens, maxOutputTokens };
    const { text } = await sideRequest(deps, request, signal);
    signal.throwIfAborted();
    return text.trim() === '' ? { why: 'the model gave no summary.' } : text.trim();
  } catch (error) {
    if (!(error instanceof SideRequestFailure)) throw error;
    return { why: error.message };
  }
};

/**
 * Replaces the older messages by the summary. Also rebuilds the prompt head, because the cached
 * prefix is lost anyway.
 */
const replace = async (
  { journal, feed, promptHead, contextProvider }: CompactorDeps,
  { dropped, text }: { readonly dropped: number; readonly text: string },
  signal: AbortSignal,
): Promise<CompactionResult> => {
  const { history } = journal;
  contextProvider.renew();
  const newHead = await promptHead.rebuild();
  const preamble = await contextProvider.preamble();
  signal.throwIfAborted();
  const tokensBefore = history.tokens;
  const summary = summaryText(history.firstPrompt, text);
  const keptMessages = history.messages.slice(dropped).map(withoutThinking);
  const keptWeight = keptMessages.reduce((sum, { weight }) => sum + weight, 0);
  const { facts, role, text: opening } = preamble;
  const startWeight = Buffer.byteLength(`${opening}${role ?? ''}${summary}`);
  const tokensAfter = tokensOfBytes(history.promptBytes + startWeight + keptWeight);
  const section = newHead === undefined ? 'messages' : `messages, ${newHead.section}`;
  journal.record({
    type: 'prompt.broken',
    reason: 'compaction',
    section,
    dropped,
    summary,
    tokensBefore,
    tokensAfter,
    briefing: { text: opening, facts: { ...facts }, ...(role !== undefined && { role }) },
    ...(newHead !== undefined && { prompt: newHead.prompt }),
  });
  if (newHead !== undefined) promptHead.adopt(newHead);
  const summaryNotice = `Summarised ${dropped} older messages: about ${tokensBefore} tokens became ${tokensAfter}.`;
  feed.emit({ type: 'context.compacted', summary: summaryNotice });
  return { event: { type: 'context.compacted' }, text: summaryNotice };
};

/**
 * Returns the truncation notice. A fork gets its directive again, because its first message is that
 * of its parent.
 */
const noticeFor = ({ relations, firstPrompt }: History, notice: string): string =>
  relations.origin?.inherits === undefined ? notice : `${notice}\n\n${firstPrompt}`;

const truncate = (deps: CompactorDeps, { gapTokens }: CompactionInput): CompactionResult => {
  const { messages } = deps.journal.history;
  const plan = planTruncation(messages, gapTokens);
  if (plan !== undefined) return drop(deps, plan, TRUNCATION_NOTICE);
  const results = planResultDrop(messages, 0);
  if (results !== undefined) return drop(deps, results, RESULTS_NOTICE);
  const detail = NOTHING_TO_DROP;
  return { event: { type: 'compaction.failed', detail }, text: detail };
};

/** Drops messages after the first message and puts the notice in their place. */
const drop = (
  { journal, feed }: CompactorDeps,
  plan: MessageDrop,
  notice: string,
): CompactionResult => {
  const { history } = journal;
  const tokensBefore = history.tokens;
  journal.record({
    type: 'prompt.broken',
    reason: 'truncation',
    section: 'messages',
    dropped: plan.dropped,
    notice: noticeFor(history, notice),
    tokensBefore,
    tokensAfter: Math.max(0, tokensBefore - plan.tokens),
  });
  const text = `Dropped to fit the context window: ${plan.dropped} of the oldest messages.`;
  feed.emit({ type: 'context.compacted', summary: text });
  return { event: { type: 'context.compacted' }, text };
};
