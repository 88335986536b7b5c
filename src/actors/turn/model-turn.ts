/**
 * Fills the slot `modelTurn`: one request, from the user message that it sends to the recorded
 * answer.
 */
import type { History } from '../../context/history/history.js';
import type { WindowThresholds } from '../../context/window/window-thresholds.js';
import type { SlotWork } from '../../machines/slot.js';
import { stops } from '../../machines/stops.js';
import { parseTokenOverrun } from '../../model/to-model-failure.js';
import { breakpointExtent } from '../../prompt/request/cache-breakpoints.js';
import { requestBody } from '../../prompt/request/request-body.js';
import type { AgentEvent, TurnInput, TurnOrder } from '../../protocol/agent/agent-state.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { Clock } from '../../protocol/clock.js';
import type { Reservation } from '../../protocol/model/budget.js';
import type { ContextProvider } from '../../protocol/model/context-provider.js';
import type { OnWait } from '../../protocol/model/governor.js';
import {
  ModelFailure,
  type ModelPort,
  type StreamEvent,
  type TurnEnd,
} from '../../protocol/model/model-port.js';
import { requestCost } from '../../protocol/model/request-cost.js';
import { NO_USAGE } from '../../protocol/model/usage.js';
import { type EndedBlock, rawText } from '../../protocol/model/wire-block.js';
import type { Feed } from '../../protocol/session/feed.js';
import { StorageError } from '../../protocol/skein-error.js';
import type { Artifact } from '../../protocol/tools/artifact.js';
import type { JournaledState } from '../agent/journaled-state.js';
import { estimateRequest } from '../budget/run-budget.js';
import type { LoopLimits } from '../calls/loop-detector.js';
import type { DeferredChanges } from '../checkpoints/deferred-changes.js';
import { CacheMonitor } from '../prompt-cache/cache-monitor.js';
import type { PromptHeadManager } from '../prompt-cache/prompt-head-manager.js';
import {
  admitRequest,
  PromptSizeCheck,
  type RequestAdmissionDeps,
  recheckAdmission,
} from './request-admission.js';
import { LetterCutoff, type RefusalLimits, sendUserMessage } from './send-user-message.js';

export interface TurnDeps extends RequestAdmissionDeps {
  readonly journal: JournaledState;
  readonly model: ModelPort;
  readonly clock: Clock;
  readonly feed: Feed;
  readonly modelName: string;
  readonly fallbackModel: string | undefined;
  /** Called for a defect of Skein: the agent fails, and its parent or host decides what to do. */
  readonly onDefect: (error: unknown) => void;
  /** Returns the beta features for the next request. */
  readonly betas: () => readonly string[];
  readonly promptHead: PromptHeadManager;
  readonly contextProvider: ContextProvider;
  readonly windowOf: (model: string) => WindowThresholds;
  readonly openArtifact: (name: string) => Artifact;
  /** Called when a request is being sent: work for the first command may begin. */
  readonly onRequestSent?: (() => void) | undefined;
  readonly deferredChanges: DeferredChanges;
  readonly toolCount: number;
  readonly limits: LoopLimits & RefusalLimits;
  /** True if the provider can tell why a prefix was not read from its cache. */
  readonly diagnostics: boolean;
}

/**
 * State shared by all turns of an agent. `deps` is not spread, because that would copy all fields.
 */
interface TurnContext {
  readonly deps: TurnDeps;
  readonly sizeCheck: PromptSizeCheck;
  readonly cacheMonitor: CacheMonitor;
  readonly onWait: OnWait;
}

/** Connection of a turn to its machine. */
interface TurnChannel {
  readonly signal: AbortSignal;
  readonly letters: LetterCutoff;
  readonly send: (event: AgentEvent) => void;
}

/** A request and its reservation. */
interface SentRequestFacts extends Pick<TurnInput, 'turn' | 'attempt'> {
  readonly model: string;
  readonly reservation: Reservation;
  readonly startedAt: number;
}

const DUPLICATE_ID =
  'The model used one tool_use id twice in a message, which no model does; check the server.';

/**
 * Abort reason shared by all turns, because an abort without a reason creates an error with a stack
 * each time.
 */
const TURN_OVER = new Error('The turn is over.');

/** Block that is added after thinking, because an assistant message may not end with thinking. */
const NO_ANSWER: EndedBlock = { type: 'text', raw: rawText('(The message ended here.)') };

export const modelTurn = (deps: TurnDeps): SlotWork<TurnOrder, TurnInput> => {
  const onWait: OnWait = (why) =>
    deps.journal.record({ type: 'request.queued', purpose: 'turn', call: null, why });
  const context = {
    deps,
    sizeCheck: new PromptSizeCheck(deps),
    cacheMonitor: new CacheMonitor(deps),
    onWait,
  };
  return ({ input, sendBack, receive }) => {
    const controller = new AbortController();
    const letters = new LetterCutoff(deps.journal.history);
    let isOver = false;
    const send = (event: AgentEvent) => {
      if (isOver) return;
      isOver = event.type !== 'letters.taken' && event.type !== 'call.drafted';
      sendBack(event);
    };
    const cancel = (why?: Error) => {
      letters.close();
      controller.abort(why);
    };
    receive(() => cancel());
    const { signal } = controller;
    runTurn(context, input, { signal, letters, send }).catch((error: unknown) => {
      if (error instanceof StorageError) send({ type: 'storage.failed', detail: error.message });
      else deps.onDefect(error);
    });
    return () => {
      // A turn that has sent its end has no request to cancel.
      if (!isOver) cancel(TURN_OVER);
      isOver = true;
    };
  };
};

const runTurn = async (
  context: TurnContext,
  input: TurnInput,
  { signal, letters, send }: TurnChannel,
): Promise<void> => {
  const { deps, sizeCheck, cacheMonitor } = context;
  const { journal, feed, clock } = deps;
  const { turn, attempt } = input;
  const { history } = journal;
  if (attempt === 1) {
    const loop = loopStop(history, deps.limits);
    if (loop !== undefined) return send({ type: 'turn.refused', stop: loop });
    await deps.promptHead.refresh();
    await sendUserMessage(deps, input, letters, send);
    if (signal.aborted) return send({ type: 'turn.ended', stopReason: 'interrupted' });
  }
  const model = chooseModel(deps, input);
  const gapTokens = sizeCheck.tokensOverLimit(model, input);
  if (gapTokens > 0) return send({ type: 'room.needed', gapTokens });
  const estimate = estimateRequest(journal, deps.promptHead, model, attempt === 1);
  const admission = recheckAdmission(await admitRequest(deps, estimate, signal, context.onWait));
  if (admission === undefined) return send({ type: 'turn.ended', stopReason: 'interrupted' });
  if ('reason' in admission) return send({ type: 'turn.refused', stop: admission });
  const { reservation, breakpoints } = admission;
  const sending = { turn, attempt, model, reservation, startedAt: clock.now() };
  const blocks: EndedBlock[] = [];
  const betas = deps.betas();
  const head = deps.promptHead.headFor(model);
  try {
    journal.forgetDrafts();
    const { sections } = deps.promptHead.head;
    const { reserved } = reservation;
    if (reserved !== null) journal.record({ type: 'budget.reserved', turn, attempt, ...reserved });
    const sent = cacheMonitor.before({ head, sections, betas, messages: history.messages });
    const marked = breakpointExtent(history.messages, breakpoints);
    journal.record({
      type: 'turn.started',
      turn,
      attempt,
      model,
      estimatedTokens: history.tokens,
      tools: deps.toolCount,
      messages: history.messages.length,
      ...(betas.length > 0 && { betas: [...betas] }),
      ...(sent && { sent }),
      ...(marked && { marked }),
    });
    const written = journal.written();
    if (written !== undefined) await written;
    feed.emit({ type: 'request.started', turn, attempt, model });
    const sink = {
      started: admission.responseStarted,
      blockEnded(block: EndedBlock) {
        blocks.push(block);
        if (block.call === undefined) return;
        // Two results with the same id are ambiguous, and the API refuses such a history.
        if (journal.isDrafted(block.call.id)) throw new ModelFailure('rejected', DUPLICATE_ID);
        journal.draftCall(block.call);
        send({ type: 'call.drafted', id: block.call.id });
      },
      ...(feed.wantsStreamEvents && {
        event: (event: StreamEvent) => feed.emit({ type: 'stream.event', event }),
      }),
    };
    const end = await cacheMonitor.send(head, (requestHead) => {
      const body = requestBody(requestHead, history.messages, breakpoints);
      const answer = deps.model.stream({ model, body, betas }, sink, signal);
      deps.onRequestSent?.();
      return answer;
    });
    await deps.deferredChanges.recorded();
    keepAnswer(context, sending, end, blocks);
    send({ type: 'turn.ended', stopReason: end.stopReason });
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    if (error.kind === 'aborted') {
      keepInterrupted(context, sending, error, blocks);
      send({ type: 'turn.ended', stopReason: 'interrupted' });
    } else failAttempt(context, sending, error, send);
  } finally {
    admission.end();
  }
  // Not awaited: after a failed sync the next record fails.
  journal.sync('soon').catch(() => undefined);
};

/**
 * Returns the stop for an agent that repeats itself. Returns undefined while the agent makes
 * progress.
 */
const loopStop = ({ loopGuard }: History, { maxRounds }: LoopLimits): Stop | undefined =>
  loopGuard.rounds >= maxRounds && !loopGuard.hasNews ? stops.loop(loopGuard.rounds) : undefined;

/**
 * Returns the model for this request. Declares a break if the model changes, because that voids the
 * cached prefix.
 */
const chooseModel = ({ journal, modelName, fallbackModel }: TurnDeps, input: TurnInput): string => {
  const model = input.onFallback ? (fallbackModel ?? modelName) : modelName;
  const previous = journal.history.model;
  if (previous !== model && journal.history.requests > 0) {
    const section = `model ${previous} → ${model}`;
    journal.record({ type: 'prompt.broken', reason: 'model', section });
  }
  return model;
};

const keepAnswer = (
  { deps: { journal, feed, clock }, cacheMonitor }: TurnContext,
  sending: SentRequestFacts,
  end: TurnEnd,
  blocks: readonly EndedBlock[],
): void => {
  const { turn, attempt, reservation, startedAt } = sending;
  const { messageId, requestId, stopReason, usage, model, diagnosis = null } = end;
  const endsWithThinking = blocks.at(-1)?.type.includes('thinking') === true;
  const kept = endsWithThinking ? [...blocks, NO_ANSWER] : blocks;
  const raw = `[${kept.map((block) => block.raw).join(',')}]`;
  const cost = requestCost(model, usage) ?? null;
  // Settle first: the cost has been incurred even if it cannot be recorded.
  reservation.settle({ usage, cost });
  journal.record({
    type: 'assistant.received',
    turn,
    attempt,
    model,
    messageId,
    requestId,
    stopReason,
    usage,
    cost,
    durationMs: clock.now() - startedAt,
    raw,
  });
  cacheMonitor.after(sending, usage, diagnosis);
  feed.emit({ type: 'assistant.message', messageId, model, content: raw, stopReason, usage });
};

/**
 * Records an interrupted answer: keeps complete blocks and unfinished text, drops unfinished
 * thinking and tool_use.
 */
const keepInterrupted = (
  context: TurnContext,
  sending: SentRequestFacts,
  failure: ModelFailure,
  blocks: readonly EndedBlock[],
): void => {
  const { partial } = failure;
  const kept = withoutOrphans(blocks);
  if (partial?.unfinishedText) {
    kept.push({ type: 'text', raw: JSON.stringify(partial.unfinishedText) });
  }
  if (kept.length === 0) {
    recordFailure(context, sending, failure);
    return;
  }
  const usage = partial?.usage ?? NO_USAGE;
  const messageId = partial?.messageId ?? '';
  const { model } = sending;
  const end = { messageId, requestId: null, stopReason: 'interrupted', usage, model };
  keepAnswer(context, sending, end, kept);
};

/** Records a failed attempt with its cost: a cut stream is billed as far as it went. */
const recordFailure = (
  { deps: { journal, clock }, cacheMonitor }: TurnContext,
  sending: SentRequestFacts,
  { kind, message, status, partial }: ModelFailure,
): void => {
  const { turn, attempt, model, reservation, startedAt } = sending;
  const usage = partial?.usage ?? NO_USAGE;
  const cost = usage === NO_USAGE ? 0 : (requestCost(model, usage) ?? null);
  reservation.settle({ usage, cost });
  journal.record({
    type: 'turn.failed',
    turn,
    attempt,
    kind,
    message,
    status,
    durationMs: clock.now() - startedAt,
    model,
    usage,
    cost,
  });
  cacheMonitor.after(sending, usage, null);
};

/** Drops server-side tool calls without a result, which cannot be sent back. */
const withoutOrphans = (blocks: readonly EndedBlock[]): EndedBlock[] => {
  const parsed = blocks.map(({ raw }) => JSON.parse(raw) as Record<string, unknown>);
  const answered = new Set(parsed.map(({ tool_use_id }) => tool_use_id));
  return blocks.filter(({ type }, index) => {
    const isServerCall = type !== 'tool_use' && type.endsWith('tool_use');
    return !isServerCall || answered.has(parsed[index]?.id);
  });
};

const failAttempt = (
  context: TurnContext,
  sending: SentRequestFacts,
  failure: ModelFailure,
  send: (event: AgentEvent) => void,
): void => {
  const { feed, governor, clock } = context.deps;
  const { turn, attempt } = sending;
  const { kind, message, retryAfterMs, isPermanent } = failure;
  recordFailure(context, sending, failure);
  feed.emit({ type: 'attempt.discarded', turn, attempt, reason: message });
  if (kind === 'rate-limited') governor.holdUntil(clock.now() + (retryAfterMs ?? 1_000));
  const gapTokens = parseTokenOverrun(message);
  send({ type: 'turn.failed', kind, message, retryAfterMs, gapTokens, isPermanent });
};
