/**
 * Sends a model request outside the conversation, within the budget and recorded in the journal.
 */
import { tokensOfBytes } from '../../context/window/text-weight.js';
import { sideRequestBody } from '../../prompt/request/side-request-body.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { OnWait } from '../../protocol/model/governor.js';
import { ModelFailure } from '../../protocol/model/model-port.js';
import { requestCost } from '../../protocol/model/request-cost.js';
import {
  type SideAnswer,
  type SideRequest,
  SideRequestFailure,
} from '../../protocol/model/side-request.js';
import { NO_USAGE, type Usage } from '../../protocol/model/usage.js';
import type { EndedBlock, WireBlock } from '../../protocol/model/wire-block.js';
import { isRefusal } from '../budget/run-budget.js';
import type { TurnDeps } from './model-turn.js';

export type SideRequestDeps = Pick<
  TurnDeps,
  'journal' | 'model' | 'governor' | 'clock' | 'budget' | 'modelName' | 'betas'
>;

/**
 * A model request outside the conversation. `call` is the tool call that it serves, or null for the
 * agent itself.
 */
interface SideRequestOptions {
  readonly purpose: string;
  readonly call: string | null;
  readonly body: Uint8Array;
  readonly maxOutputTokens: number;
  /** Tokens of the body that the server has counted before, and so has cached. */
  readonly knownTokens?: number;
}

export const sideRequestFor =
  (deps: SideRequestDeps, call: string) =>
  (request: SideRequest, signal: AbortSignal): Promise<SideAnswer> =>
    sideRequest(
      deps,
      {
        purpose: request.purpose,
        call,
        maxOutputTokens: request.maxTokens,
        body: sideRequestBody(deps.modelName, request),
      },
      signal,
    );

type Outcome = 'ok' | 'failed' | 'aborted';

/** Sends the request. Rejects with SideRequestFailure, StorageError or the reason of the signal. */
export const sideRequest = async (
  deps: SideRequestDeps,
  { purpose, call, body, maxOutputTokens, knownTokens = 0 }: SideRequestOptions,
  signal: AbortSignal,
): Promise<SideAnswer> => {
  const { journal, clock, budget, modelName: model } = deps;
  const inputTokens = Math.max(knownTokens, tokensOfBytes(body.length));
  const estimate = { model, inputTokens, knownTokens, maxOutputTokens, isTurn: false };
  let hasWaited = false;
  const onWait: OnWait = (why) => {
    hasWaited = true;
    journal.record({ type: 'request.queued', purpose, call, why });
  };
  let startedAt = clock.now();
  const end = (outcome: Outcome, usage: Usage, cost: number | null) => {
    const durationMs = clock.now() - startedAt;
    journal.record({
      type: 'consultation.ended',
      purpose,
      call,
      outcome,
      model,
      usage,
      cost,
      durationMs,
    });
  };
  /** Records the end of a request that was recorded as waiting. */
  const endWait = (outcome: Outcome) => {
    if (hasWaited) end(outcome, NO_USAGE, 0);
  };
  const reservation = await budget.reserve(estimate, signal, onWait).catch((reason: unknown) => {
    if (signal.aborted) endWait('aborted');
    throw reason;
  });
  const refuse = ({ detail, reason }: Stop): never => {
    endWait('failed');
    throw new SideRequestFailure(detail ?? reason, false);
  };
  if (isRefusal(reservation)) return refuse(reservation);
  const leave = await deps.governor.enter(signal, onWait).catch((reason: unknown) => {
    reservation.cancel();
    if (signal.aborted) endWait('aborted');
    throw reason;
  });
  const refusal = reservation.refusal();
  if (refusal !== null) {
    leave();
    reservation.cancel();
    return refuse(refusal);
  }
  const record = (outcome: Outcome, usage: Usage) => {
    const cost = usage === NO_USAGE ? 0 : (requestCost(model, usage) ?? null);
    reservation.settle({ usage, cost });
    end(outcome, usage, cost);
  };
  const blocks: EndedBlock[] = [];
  const sink = { started: () => {}, blockEnded: (block: EndedBlock) => void blocks.push(block) };
  try {
    startedAt = clock.now();
    journal.record({ type: 'consultation.started', purpose, call, model });
    const request = { model, body: [body], betas: deps.betas() };
    const { stopReason, usage } = await deps.model.stream(request, sink, signal);
    record('ok', usage);
    return answerOf(blocks, stopReason);
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    record(error.kind === 'aborted' ? 'aborted' : 'failed', error.partial?.usage ?? NO_USAGE);
    signal.throwIfAborted();
    throw new SideRequestFailure(error.message, error.kind === 'rejected', { cause: error });
  } finally {
    leave();
    reservation.cancel();
  }
};

const answerOf = (endedBlocks: readonly EndedBlock[], stopReason: string): SideAnswer => {
  const blocks = endedBlocks.map(({ raw }) => JSON.parse(raw) as WireBlock);
  const text = blocks.flatMap((block) => (block.type === 'text' ? [String(block.text)] : []));
  return { text: text.join(''), blocks, stopReason };
};
