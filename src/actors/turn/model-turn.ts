/** Fills the slot `modelTurn`: one request, from the user message that it sends to the answer. */
import type { WindowMarks } from '../../context/window/window.js';
import type { Work } from '../../machines/slot.js';
import { gapOf } from '../../model/failure.js';
import { markedOf } from '../../prompt/request/cache-breakpoints.js';
import { requestBody } from '../../prompt/request/request-body.js';
import type { AgentEvent, TurnInput, TurnOrder } from '../../protocol/agent/agent.js';
import type { Clock } from '../../protocol/clock.js';
import { StorageError } from '../../protocol/errors.js';
import type { Reservation } from '../../protocol/model/budget.js';
import type { ContextProvider } from '../../protocol/model/context-provider.js';
import {
  ModelFailure,
  type ModelPort,
  type StreamEvent,
  type TurnEnd,
} from '../../protocol/model/model.js';
import { costOf } from '../../protocol/model/prices.js';
import type { TellWait } from '../../protocol/model/queueing.js';
import { NO_USAGE } from '../../protocol/model/usage.js';
import { type EndedBlock, rawText } from '../../protocol/model/wire.js';
import type { Feed } from '../../protocol/session/feed.js';
import type { JournaledState } from '../agent/journaled-state.js';
import { needOf } from '../budget/run-budget.js';
import { type LoopLimits, loopOf } from '../calls/loop-detector.js';
import { CacheMonitor } from '../prompt-cache/cache-monitor.js';
import type { PromptHeadManager } from '../prompt-cache/prompt-head-manager.js';
import { admitRequest, type RequestAdmissionDeps, recheckAdmission } from './request-admission.js';
import { RoomWatch } from './room-watch.js';
import { LetterCutoff, sendUserMessage } from './user-message.js';

export interface TurnDeps extends RequestAdmissionDeps {
  readonly notebook: JournaledState;
  readonly model: ModelPort;
  readonly clock: Clock;
  readonly feed: Feed;
  readonly modelName: string;
  readonly fallbackModel: string | undefined;
  /** An error that is ours: it fails the agent, and whoever started it decides. */
  readonly defect: (error: unknown) => void;
  /** The beta features that the next request asks for. */
  readonly betas: () => readonly string[];
  readonly shelf: PromptHeadManager;
  readonly briefing: ContextProvider;
  readonly windowOf: (model: string) => WindowMarks;
  readonly toolCount: number;
  readonly limits: LoopLimits;
  /** The provider tells why a prefix could not be read from its cache, when asked. */
  readonly diagnostics: boolean;
}

/** What outlives a turn of one agent. Its parts are not spread: that would copy all of them. */
interface Turns {
  readonly deps: TurnDeps;
  readonly room: RoomWatch;
  readonly watch: CacheMonitor;
  readonly waits: TellWait;
}

/** Between a turn and its machine. */
interface Line {
  readonly signal: AbortSignal;
  readonly letters: LetterCutoff;
  readonly tell: (event: AgentEvent) => void;
}

/** One request, and what is set aside for it. */
interface Sending extends Pick<TurnInput, 'turn' | 'attempt'> {
  readonly model: string;
  readonly reservation: Reservation;
  readonly began: number;
}

const TWICE =
  'The model used one tool_use id twice in a message, which no model does; check the server.';

/** One for all turns: an abort without a reason makes an error with a stack each time. */
const OVER = new Error('The turn is over.');

/** An assistant message may not end with thinking; one that was cut off can. */
const NO_ANSWER: EndedBlock = { type: 'text', raw: rawText('(The message ended here.)') };

export const modelTurn = (deps: TurnDeps): Work<TurnOrder, TurnInput> => {
  const waits: TellWait = (why) =>
    deps.notebook.record({ type: 'request.queued', purpose: 'turn', call: null, why });
  const turns = { deps, room: new RoomWatch(deps), watch: new CacheMonitor(deps), waits };
  return ({ input, sendBack, receive }) => {
    const controller = new AbortController();
    const letters = new LetterCutoff(deps.notebook.history);
    let over = false;
    const tell = (event: AgentEvent) => {
      if (over) return;
      over = event.type !== 'letters.taken' && event.type !== 'call.drafted';
      sendBack(event);
    };
    const callOff = (why?: Error) => {
      letters.close();
      controller.abort(why);
    };
    receive(() => callOff());
    const { signal } = controller;
    runTurn(turns, input, { signal, letters, tell }).catch((error: unknown) => {
      if (error instanceof StorageError) tell({ type: 'storage.failed', detail: error.message });
      else deps.defect(error);
    });
    return () => {
      // One that has told its end has nothing left to call off.
      if (!over) callOff(OVER);
      over = true;
    };
  };
};

const runTurn = async (
  turns: Turns,
  input: TurnInput,
  { signal, letters, tell }: Line,
): Promise<void> => {
  const { deps, room, watch } = turns;
  const { notebook, feed, clock } = deps;
  const { turn, attempt } = input;
  const { history } = notebook;
  if (attempt === 1) {
    const loop = loopOf(history, deps.limits);
    if (loop !== undefined) return tell({ type: 'turn.refused', stop: loop });
    await deps.shelf.refresh();
    await sendUserMessage(deps, input, letters, tell);
    if (signal.aborted) return tell({ type: 'turn.ended', stopReason: 'interrupted' });
  }
  const model = chooseModel(deps, input);
  const gapTokens = room.gapFor(model, input);
  if (gapTokens > 0) return tell({ type: 'room.needed', gapTokens });
  const need = needOf(notebook, deps.shelf, model, attempt === 1);
  const clearance = recheckAdmission(await admitRequest(deps, need, signal, turns.waits));
  if (clearance === undefined) return tell({ type: 'turn.ended', stopReason: 'interrupted' });
  if ('reason' in clearance) return tell({ type: 'turn.refused', stop: clearance });
  const { reservation, marks } = clearance;
  const sending = { turn, attempt, model, reservation, began: clock.now() };
  const blocks: EndedBlock[] = [];
  const betas = deps.betas();
  const head = deps.shelf.headFor(model);
  try {
    notebook.forgetDrafts();
    const { sections } = deps.shelf.head;
    const { held } = reservation;
    if (held !== null) notebook.record({ type: 'budget.reserved', turn, attempt, ...held });
    const sent = watch.before({ head, sections, betas, messages: history.messages });
    const marked = markedOf(history.messages, marks);
    notebook.record({
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
    const written = notebook.written();
    if (written !== undefined) await written;
    feed.emit({ type: 'request.started', turn, attempt, model });
    const sink = {
      started: clearance.begun,
      blockEnded(block: EndedBlock) {
        blocks.push(block);
        if (block.call === undefined) return;
        // Two results of one id cannot be told apart, and the API refuses such a history.
        if (notebook.isDrafted(block.call.id)) throw new ModelFailure('rejected', TWICE);
        notebook.draftCall(block.call);
        tell({ type: 'call.drafted', id: block.call.id });
      },
      ...(feed.wantsStreamEvents && {
        event: (event: StreamEvent) => feed.emit({ type: 'stream.event', event }),
      }),
    };
    const end = await watch.send(head, (asking) => {
      const body = requestBody(asking, history.messages, marks);
      return deps.model.stream({ model, body, betas }, sink, signal);
    });
    keepAnswer(turns, sending, end, blocks);
    tell({ type: 'turn.ended', stopReason: end.stopReason });
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    if (error.kind === 'aborted') {
      keepInterrupted(turns, sending, error, blocks);
      tell({ type: 'turn.ended', stopReason: 'interrupted' });
    } else giveUpAttempt(turns, sending, error, tell);
  } finally {
    clearance.end();
  }
  // Nobody waits for it: what failed is what the next record fails with.
  notebook.sync('soon').catch(() => undefined);
};

/** A change of model voids the cached prefix, so it is declared. */
const chooseModel = (
  { notebook, modelName, fallbackModel }: TurnDeps,
  input: TurnInput,
): string => {
  const wanted = input.onFallback ? (fallbackModel ?? modelName) : modelName;
  const before = notebook.history.model;
  if (before !== wanted && notebook.history.requests > 0) {
    const section = `model ${before} → ${wanted}`;
    notebook.record({ type: 'prompt.broken', reason: 'model', section });
  }
  return wanted;
};

const keepAnswer = (
  { deps: { notebook, feed, clock }, watch }: Turns,
  sending: Sending,
  end: TurnEnd,
  blocks: readonly EndedBlock[],
): void => {
  const { turn, attempt, reservation, began } = sending;
  const { messageId, requestId, stopReason, usage, model, diagnosis = null } = end;
  const isOpen = blocks.at(-1)?.type.includes('thinking') === true;
  const kept = isOpen ? [...blocks, NO_ANSWER] : blocks;
  const raw = `[${kept.map((block) => block.raw).join(',')}]`;
  const cost = costOf(model, usage) ?? null;
  // It is spent, whether or not it can be written down.
  reservation.settle({ usage, cost });
  notebook.record({
    type: 'assistant.received',
    turn,
    attempt,
    model,
    messageId,
    requestId,
    stopReason,
    usage,
    cost,
    durationMs: clock.now() - began,
    raw,
  });
  watch.after(sending, usage, diagnosis);
  feed.emit({ type: 'assistant.message', messageId, model, content: raw, stopReason, usage });
};

/** Complete blocks and unfinished text are kept; unfinished thinking and tool_use are dropped. */
const keepInterrupted = (
  turns: Turns,
  sending: Sending,
  failure: ModelFailure,
  blocks: readonly EndedBlock[],
): void => {
  const { partial } = failure;
  const kept = withoutOrphans(blocks);
  if (partial?.unfinishedText) {
    kept.push({ type: 'text', raw: JSON.stringify(partial.unfinishedText) });
  }
  if (kept.length === 0) {
    recordFailure(turns, sending, failure);
    return;
  }
  const usage = partial?.usage ?? NO_USAGE;
  const messageId = partial?.messageId ?? '';
  const { model } = sending;
  const end = { messageId, requestId: null, stopReason: 'interrupted', usage, model };
  keepAnswer(turns, sending, end, kept);
};

/** With what it cost: a stream that was cut is paid for as far as it went. */
const recordFailure = (
  { deps: { notebook, clock }, watch }: Turns,
  sending: Sending,
  { kind, message, status, partial }: ModelFailure,
): void => {
  const { turn, attempt, model, reservation, began } = sending;
  const usage = partial?.usage ?? NO_USAGE;
  const cost = usage === NO_USAGE ? 0 : (costOf(model, usage) ?? null);
  reservation.settle({ usage, cost });
  notebook.record({
    type: 'turn.failed',
    turn,
    attempt,
    kind,
    message,
    status,
    durationMs: clock.now() - began,
    model,
    usage,
    cost,
  });
  watch.after(sending, usage, null);
};

/** A call of the server's own whose result never came cannot be sent back. */
const withoutOrphans = (blocks: readonly EndedBlock[]): EndedBlock[] => {
  const parsed = blocks.map(({ raw }) => JSON.parse(raw) as Record<string, unknown>);
  const answered = new Set(parsed.map(({ tool_use_id }) => tool_use_id));
  return blocks.filter(({ type }, index) => {
    const isServerCall = type !== 'tool_use' && type.endsWith('tool_use');
    return !isServerCall || answered.has(parsed[index]?.id);
  });
};

const giveUpAttempt = (
  turns: Turns,
  sending: Sending,
  failure: ModelFailure,
  tell: (event: AgentEvent) => void,
): void => {
  const { feed, governor, clock } = turns.deps;
  const { turn, attempt } = sending;
  const { kind, message, retryAfterMs } = failure;
  recordFailure(turns, sending, failure);
  feed.emit({ type: 'attempt.discarded', turn, attempt, reason: message });
  if (kind === 'rate-limited') governor.holdUntil(clock.now() + (retryAfterMs ?? 1_000));
  tell({ type: 'turn.failed', kind, message, retryAfterMs, gapTokens: gapOf(message) });
};
