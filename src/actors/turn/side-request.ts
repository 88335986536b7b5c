/** Asks a model something beside the conversation, within what is granted and on the books. */
import { tokensOfBytes } from '../../context/window/tokens.js';
import { consultBody } from '../../prompt/request/side-request-body.js';
import type { Stop } from '../../protocol/agent/agent.js';
import { ModelFailure } from '../../protocol/model/model.js';
import { costOf } from '../../protocol/model/prices.js';
import type { TellWait } from '../../protocol/model/queueing.js';
import {
  type ConsultAnswer,
  ConsultFailure,
  type ConsultRequest,
} from '../../protocol/model/side-request.js';
import { NO_USAGE, type Usage } from '../../protocol/model/usage.js';
import type { EndedBlock, WireBlock } from '../../protocol/model/wire.js';
import { isRefusal } from '../budget/run-budget.js';
import type { TurnDeps } from './model-turn.js';

export type SideRequestDeps = Pick<
  TurnDeps,
  'notebook' | 'model' | 'governor' | 'clock' | 'grant' | 'modelName' | 'betas'
>;

/** `call` is what it is done for; null is the agent itself. `body` where the request is special. */
export interface SideRequest {
  readonly purpose: string;
  readonly call: string | null;
  readonly body: Uint8Array;
  readonly maxOutputTokens: number;
  /** Of the body: what the server has counted before, and so has cached. */
  readonly knownTokens?: number;
}

export const sideRequestFor =
  (deps: SideRequestDeps, call: string) =>
  (request: ConsultRequest, signal: AbortSignal): Promise<ConsultAnswer> =>
    sideRequest(
      deps,
      {
        purpose: request.purpose,
        call,
        maxOutputTokens: request.maxTokens,
        body: consultBody(deps.modelName, request),
      },
      signal,
    );

type Outcome = 'ok' | 'failed' | 'aborted';

/** Rejects with a ConsultFailure, with a StorageError, or with the signal's reason. */
export const sideRequest = async (
  deps: SideRequestDeps,
  { purpose, call, body, maxOutputTokens, knownTokens = 0 }: SideRequest,
  signal: AbortSignal,
): Promise<ConsultAnswer> => {
  const { notebook, clock, grant, modelName: model } = deps;
  const inputTokens = Math.max(knownTokens, tokensOfBytes(body.length));
  const need = { model, inputTokens, knownTokens, maxOutputTokens, isTurn: false };
  let hasWaited = false;
  const waits: TellWait = (why) => {
    hasWaited = true;
    notebook.record({ type: 'request.queued', purpose, call, why });
  };
  let began = clock.now();
  const end = (outcome: Outcome, usage: Usage, cost: number | null) => {
    const durationMs = clock.now() - began;
    notebook.record({
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
  /** Whoever was told that it waits must hear that it does not any more. */
  const giveUp = (outcome: Outcome) => {
    if (hasWaited) end(outcome, NO_USAGE, 0);
  };
  const reservation = await grant.reserve(need, signal, waits).catch((reason: unknown) => {
    if (signal.aborted) giveUp('aborted');
    throw reason;
  });
  const refuse = ({ detail, reason }: Stop): never => {
    giveUp('failed');
    throw new ConsultFailure(detail ?? reason, false);
  };
  if (isRefusal(reservation)) return refuse(reservation);
  const leave = await deps.governor.enter(signal, waits).catch((reason: unknown) => {
    reservation.cancel();
    if (signal.aborted) giveUp('aborted');
    throw reason;
  });
  const refusal = reservation.refusal();
  if (refusal !== null) {
    leave();
    reservation.cancel();
    return refuse(refusal);
  }
  const record = (outcome: Outcome, usage: Usage) => {
    const cost = usage === NO_USAGE ? 0 : (costOf(model, usage) ?? null);
    reservation.settle({ usage, cost });
    end(outcome, usage, cost);
  };
  const blocks: EndedBlock[] = [];
  const sink = { started: () => {}, blockEnded: (block: EndedBlock) => void blocks.push(block) };
  try {
    began = clock.now();
    notebook.record({ type: 'consultation.started', purpose, call, model });
    const request = { model, body: [body], betas: deps.betas() };
    const { stopReason, usage } = await deps.model.stream(request, sink, signal);
    record('ok', usage);
    return answerOf(blocks, stopReason);
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    record(error.kind === 'aborted' ? 'aborted' : 'failed', error.partial?.usage ?? NO_USAGE);
    signal.throwIfAborted();
    throw new ConsultFailure(error.message, error.kind === 'rejected', { cause: error });
  } finally {
    leave();
    reservation.cancel();
  }
};

const answerOf = (ended: readonly EndedBlock[], stopReason: string): ConsultAnswer => {
  const blocks = ended.map(({ raw }) => JSON.parse(raw) as WireBlock);
  const text = blocks.flatMap((block) => (block.type === 'text' ? [String(block.text)] : []));
  return { text: text.join(''), blocks, stopReason };
};
