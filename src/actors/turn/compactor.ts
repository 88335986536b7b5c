/**
 * Fills the slot `compactor`: makes room in the conversation, and declares the break.
 *
 * The older messages become a summary that the model writes in one request on the same prefix. When
 * there is none to be had and the server has refused the prompt, the oldest rounds are dropped.
 */
import type { EventObject } from 'xstate';
import type { History } from '../../context/history/history.js';
import { withoutThoughts } from '../../context/history/history-message.js';
import { planCompaction } from '../../context/window/compaction.js';
import { tokensOfBytes } from '../../context/window/tokens.js';
import { planTruncation, TRUNCATION_NOTICE } from '../../context/window/truncation.js';
import type { WindowMarks } from '../../context/window/window.js';
import type { Work } from '../../machines/slot.js';
import { summaryDirective, summaryText } from '../../prompt/messages/compaction-text.js';
import { directiveBody } from '../../prompt/request/request-body.js';
import type { AgentEvent, RoomNeeded } from '../../protocol/agent/agent.js';
import { StorageError, UsageError } from '../../protocol/errors.js';
import type { Ids } from '../../protocol/ids.js';
import type { ContextProvider } from '../../protocol/model/context-provider.js';
import { ConsultFailure } from '../../protocol/model/side-request.js';
import { rawText } from '../../protocol/model/wire.js';
import type { Hooks } from '../../protocol/permission/hooks.js';
import type { Feed } from '../../protocol/session/feed.js';
import { fireSessionStart } from '../hooks/session-hooks.js';
import type { PromptHeadManager } from '../prompt-cache/prompt-head-manager.js';
import { type SideRequestDeps, sideRequest } from './side-request.js';

export interface CompactorDeps extends SideRequestDeps {
  readonly feed: Feed;
  readonly shelf: PromptHeadManager;
  readonly briefing: ContextProvider;
  readonly windowOf: (model: string) => WindowMarks;
  readonly hooks: Hooks;
  readonly ids: Ids;
  readonly defect: (error: unknown) => void;
}

/** A person's wish to make room now, and who waits to hear what came of it. */
export interface AskedCompaction {
  readonly instructions: string;
  readonly resolve: (sentence: string) => void;
  readonly reject: (error: Error) => void;
}

/** What is kept whole may fill this much of what a prompt may be. */
const TAIL_SHARE = 0.5;

const NOTHING_TO_DROP =
  'The conversation does not fit the context window, and nothing is left to drop; start a new session with a shorter prompt.';
const NOTHING_OLDER = 'There is too little to summarise yet.';
const GIVEN_UP = new UsageError('The summary was given up.');

export const compactor =
  (
    deps: CompactorDeps,
    takeAsked: () => AskedCompaction | undefined,
  ): Work<EventObject, RoomNeeded> =>
  ({ input, sendBack }) => {
    const controller = new AbortController();
    const asked = input.why === 'asked' ? takeAsked() : undefined;
    let over = false;
    const tell = (event: AgentEvent) => {
      if (!over) sendBack(event);
    };
    // The model that spoke last holds the conversation in its cache.
    const modelName = deps.notebook.history.model || deps.modelName;
    const { compactAbove } = smallerOf(deps.windowOf(modelName), deps.windowOf(deps.modelName));
    const tailTokens = compactAbove * TAIL_SHARE;
    const wish = { ...input, tailTokens, instructions: asked?.instructions ?? '' };
    makeRoom({ ...deps, modelName }, wish, controller.signal)
      .then(({ event, said }) => {
        if (event.type === 'context.compacted') asked?.resolve(said);
        else asked?.reject(new UsageError(said));
        if (event.type === 'compaction.declined' && asked === undefined) {
          deps.feed.emit({ type: 'notice', text: `No room was made in the conversation: ${said}` });
        }
        tell(event);
      })
      .catch((error: unknown) => {
        if (error instanceof StorageError) {
          asked?.reject(new UsageError(error.message));
          tell({ type: 'storage.failed', detail: error.message });
          return;
        }
        asked?.reject(GIVEN_UP);
        if (!controller.signal.aborted) deps.defect(error);
      });
    return () => {
      over = true;
      controller.abort();
    };
  };

/** What is left must suit the model that is asked next, which need not be the one that spoke last. */
const smallerOf = (one: WindowMarks, other: WindowMarks): WindowMarks =>
  one.window < other.window ? one : other;

interface Wish extends RoomNeeded {
  readonly instructions: string;
  readonly tailTokens: number;
}

interface Made {
  readonly event: AgentEvent;
  /** For people, and for whoever asked. */
  readonly said: string;
}

const makeRoom = async (deps: CompactorDeps, wish: Wish, signal: AbortSignal): Promise<Made> => {
  const { history } = deps.notebook;
  const planned = planCompaction(history.messages, wish.tailTokens);
  const cut = planned !== undefined && isWorthwhile(history, planned) ? planned : undefined;
  const { refusal, advice } = cut === undefined ? NOT_ASKED : await askHooks(deps, wish, signal);
  const told = { ...wish, instructions: [wish.instructions, ...advice].join('\n').trim() };
  const summary =
    refusal === undefined ? cut && (await summarise(deps, told, cut, signal)) : { why: refusal };
  if (cut !== undefined && typeof summary === 'string') {
    const made = await replace(deps, cut, summary, signal);
    await tellHooks(deps, wish, summary, signal);
    return made;
  }
  if (wish.why === 'refused') return drop(deps, wish);
  const said = cut === undefined ? NOTHING_OLDER : (summary as SummaryTrouble).why;
  return { event: { type: 'compaction.declined' }, said };
};

const triggerOf = ({ why }: Wish): string => (why === 'asked' ? 'manual' : 'auto');

interface Advice {
  /** Somebody does not want a summary, and why. */
  readonly refusal: string | undefined;
  /** What it should look at. */
  readonly advice: readonly string[];
}

const NOT_ASKED: Advice = { refusal: undefined, advice: [] };

const askHooks = async (
  { hooks }: CompactorDeps,
  wish: Wish,
  signal: AbortSignal,
): Promise<Advice> => {
  const trigger = triggerOf(wish);
  const facts = { trigger, custom_instructions: wish.instructions };
  const verdict = await hooks.fire('PreCompact', facts, { subject: trigger, signal });
  signal.throwIfAborted();
  const reason = verdict.halt ?? verdict.block?.reason;
  const refusal = reason === undefined ? undefined : `A hook does not want it: ${reason}`;
  return { refusal, advice: verdict.context };
};

/** The conversation begins anew: what a hook adds to a beginning it adds again. */
const tellHooks = async (
  deps: CompactorDeps,
  wish: Wish,
  summary: string,
  signal: AbortSignal,
): Promise<void> => {
  const trigger = triggerOf(wish);
  const facts = { trigger, compact_summary: summary };
  await deps.hooks.fire('PostCompact', facts, { subject: trigger, signal });
  await fireSessionStart(deps, 'compact', signal);
};

/** What no summary could be shorter than is left alone. */
const isWorthwhile = ({ messages, opening }: History, cut: number): boolean =>
  messages.slice(0, cut).reduce((sum, { weight }) => sum + weight, 0) >
  Buffer.byteLength(summaryText(opening, ''));

interface SummaryTrouble {
  readonly why: string;
}

/**
 * The whole conversation is read, because all of it is cached. One that was refused as too long, or
 * that ends with calls whose results nobody has sent yet, is read as far as it is replaced.
 */
const summarise = async (
  deps: CompactorDeps,
  { why, instructions }: Wish,
  cut: number,
  signal: AbortSignal,
): Promise<string | SummaryTrouble> => {
  const { messages, calls } = deps.notebook.history;
  const read = why === 'refused' || calls.size > 0 ? messages.slice(0, cut) : messages;
  const directive = rawText(summaryDirective(instructions));
  const body = directiveBody(deps.shelf.headFor(deps.modelName), read, directive);
  try {
    const { countedTokens } = deps.notebook.history;
    const isWhole = read === messages;
    const knownTokens = isWhole
      ? countedTokens
      : Math.min(countedTokens, tokensOfBytes(body.length));
    const maxOutputTokens = deps.shelf.outputLimit(deps.modelName);
    const wanted = { purpose: 'summary', call: null, body, knownTokens, maxOutputTokens };
    const { text } = await sideRequest(deps, wanted, signal);
    signal.throwIfAborted();
    return text.trim() === '' ? { why: 'the model gave no summary.' } : text.trim();
  } catch (error) {
    if (!(error instanceof ConsultFailure)) throw error;
    return { why: error.message };
  }
};

/** Where messages are lost anyway, what stands ahead of them is looked at again. */
const replace = async (
  { notebook, feed, shelf, briefing: desk }: CompactorDeps,
  dropped: number,
  text: string,
  signal: AbortSignal,
): Promise<Made> => {
  const { history } = notebook;
  desk.renew();
  const renewed = await shelf.look();
  const briefing = await desk.opening();
  signal.throwIfAborted();
  const tokensBefore = history.tokens;
  const summary = summaryText(history.opening, text);
  const left = history.messages.slice(dropped).map(withoutThoughts);
  const kept = left.reduce((sum, { weight }) => sum + weight, 0);
  const begin = Buffer.byteLength(summary) + Buffer.byteLength(briefing.text);
  const tokensAfter = tokensOfBytes(history.promptBytes + begin + kept);
  const section = renewed === undefined ? 'messages' : `messages, ${renewed.section}`;
  notebook.record({
    type: 'prompt.broken',
    reason: 'compaction',
    section,
    dropped,
    summary,
    tokensBefore,
    tokensAfter,
    briefing: { text: briefing.text, facts: { ...briefing.facts } },
    ...(renewed !== undefined && { prompt: renewed.prompt }),
  });
  if (renewed !== undefined) shelf.adopt(renewed);
  const said = `Summarised ${dropped} older messages: about ${tokensBefore} tokens became ${tokensAfter}.`;
  feed.emit({ type: 'context.compacted', summary: said });
  return { event: { type: 'context.compacted' }, said };
};

/** The first message stays, but that of a fork is its parent's: what the fork is to do is said again. */
const noticeFor = ({ family, opening }: History): string =>
  family.origin?.inherits === undefined ? TRUNCATION_NOTICE : `${TRUNCATION_NOTICE}\n\n${opening}`;

const drop = ({ notebook, feed }: CompactorDeps, { gapTokens }: RoomNeeded): Made => {
  const { history } = notebook;
  const plan = planTruncation(history.messages, gapTokens);
  if (plan === undefined) {
    const detail = NOTHING_TO_DROP;
    return { event: { type: 'compaction.failed', detail }, said: detail };
  }
  const tokensBefore = history.tokens;
  notebook.record({
    type: 'prompt.broken',
    reason: 'truncation',
    section: 'messages',
    dropped: plan.dropped,
    notice: noticeFor(history),
    tokensBefore,
    tokensAfter: Math.max(0, tokensBefore - plan.tokens),
  });
  const said = `Dropped to fit the context window: ${plan.dropped} of the oldest messages.`;
  feed.emit({ type: 'context.compacted', summary: said });
  return { event: { type: 'context.compacted' }, said };
};
