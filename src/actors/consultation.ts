/** Asks a model something beside the conversation, within the budget and on the books. */
import { consultBody } from '../prompt/consult-body.js';
import { type ConsultAnswer, ConsultFailure, type ConsultRequest } from '../protocol/consult.js';
import { ModelFailure } from '../protocol/model.js';
import { costOf } from '../protocol/prices.js';
import { NO_USAGE, type Usage } from '../protocol/usage.js';
import type { EndedBlock, WireBlock } from '../protocol/wire.js';
import type { TurnDeps } from './model-turn.js';

export type ConsultDeps = Pick<
  TurnDeps,
  'notebook' | 'model' | 'governor' | 'clock' | 'budget' | 'modelName' | 'betas'
>;

/** `call` is what it is done for; null is the agent itself. `body` where the request is special. */
export interface Consultation {
  readonly purpose: string;
  readonly call: string | null;
  readonly body: Uint8Array;
}

export const consultFor =
  (deps: ConsultDeps, call: string) =>
  (request: ConsultRequest, signal: AbortSignal): Promise<ConsultAnswer> =>
    consult(
      deps,
      { purpose: request.purpose, call, body: consultBody(deps.modelName, request) },
      signal,
    );

/** Rejects with a ConsultFailure, with a StorageError, or with the signal's reason. */
export const consult = async (
  deps: ConsultDeps,
  { purpose, call, body }: Consultation,
  signal: AbortSignal,
): Promise<ConsultAnswer> => {
  const { notebook, clock, budget, modelName: model } = deps;
  const refusal = budget.refusal(model, notebook.history);
  if (refusal !== null) throw new ConsultFailure(refusal.detail ?? refusal.reason, false);
  const leave = await deps.governor.enter(signal);
  const began = clock.now();
  const record = (outcome: 'ok' | 'failed' | 'aborted', usage: Usage) =>
    notebook.record({
      ...{ type: 'consultation.ended', purpose, call, outcome, model, usage },
      cost: usage === NO_USAGE ? 0 : (costOf(model, usage) ?? null),
      durationMs: clock.now() - began,
    });
  const blocks: EndedBlock[] = [];
  const sink = { started: () => {}, blockEnded: (block: EndedBlock) => void blocks.push(block) };
  try {
    const request = { model, body, betas: deps.betas() };
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
  }
};

const answerOf = (ended: readonly EndedBlock[], stopReason: string): ConsultAnswer => {
  const blocks = ended.map(({ raw }) => JSON.parse(raw) as WireBlock);
  const text = blocks.flatMap((block) => (block.type === 'text' ? [String(block.text)] : []));
  return { text: text.join(''), blocks, stopReason };
};
