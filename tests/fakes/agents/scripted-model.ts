/** Model port that a test scripts. */
import { onTestFinished } from 'vitest';
import {
  type FailureKind,
  ModelFailure,
  type ModelPort,
} from '../../../src/protocol/model/model-port.js';
import { NO_USAGE, type Usage } from '../../../src/protocol/model/usage.js';
import type { EndedBlock, WireBlock } from '../../../src/protocol/model/wire-block.js';

/** One step of an answer. */
export type Step =
  | { readonly does: 'block'; readonly block: EndedBlock }
  | { readonly does: 'write'; readonly text: string }
  | { readonly does: 'wait'; readonly gate: Promise<void> }
  | { readonly does: 'end'; readonly stopReason: string; readonly usage: Partial<Usage> }
  | { readonly does: 'fail'; readonly failure: Error };

/** Answer to one request. Without an end step it ends as a model would end it. */
export type Answer = readonly Step[];

const block = (content: WireBlock, call?: EndedBlock['call']): Step => ({
  does: 'block',
  block: { type: content.type, raw: JSON.stringify(content), ...(call && { call }) },
});

export const says = (text: string): Step => block({ type: 'text', text });

export const thinks = (thinking: string): Step =>
  block({ type: 'thinking', thinking, signature: 'c2lnbmF0dXJl' });

export const calls = (id: string, tool: string, input: unknown = {}): Step =>
  block({ type: 'tool_use', id, name: tool, input }, { id, tool, input });

/** Call with input that is not JSON. */
export const callsBadly = (id: string, tool: string, malformed: string): Step =>
  block({ type: 'tool_use', id, name: tool, input: {} }, { id, tool, input: {}, malformed });

/** Text that is unfinished when the next step happens. */
export const writes = (text: string): Step => ({ does: 'write', text });

export const waits = (gate: Promise<void>): Step => ({ does: 'wait', gate });

export const ends = (stopReason: string, usage: Partial<Usage> = {}): Step => ({
  does: 'end',
  stopReason,
  usage,
});

export const fails = (
  kind: FailureKind,
  detail: { message?: string; status?: number; retryAfterMs?: number; usage?: Usage } = {},
): Step => {
  const { message = `It was ${kind}.`, usage, ...rest } = detail;
  const partial = { messageId: null, usage: usage ?? NO_USAGE, unfinishedText: null };
  return { does: 'fail', failure: new ModelFailure(kind, message, { ...rest, partial }) };
};

/** Promise that the test resolves with `open`. */
export const gate = (): { readonly opened: Promise<void>; open(): void } => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
};

export interface SentRequest {
  readonly model: string;
  readonly body: string;
  readonly betas: readonly string[];
}

export interface ScriptedModel extends ModelPort {
  /** Sent requests, oldest first. */
  readonly requests: readonly SentRequest[];
  /** Number of answers that were not requested yet. */
  readonly unused: number;
}

/**
 * Model that answers from a list, in order. An unexpected request fails, and a test with unused
 * answers fails.
 */
export const scriptedModel = (...answers: readonly Answer[]): ScriptedModel => {
  const { requests, stream } = choosingModel((_, number) => answers[number - 1]);
  const model: ScriptedModel = {
    requests,
    stream,
    get unused() {
      return Math.max(0, answers.length - requests.length);
    },
  };
  onTestFinished(() => {
    if (model.unused > 0) throw new Error(`scriptedModel: ${model.unused} answers were not used`);
  });
  return model;
};

/** Model that chooses its answer by the request. */
export const choosingModel = (
  choose: (request: SentRequest, number: number) => Answer | undefined,
): Omit<ScriptedModel, 'unused'> => {
  const requests: SentRequest[] = [];
  return {
    requests,
    async stream({ model: name, body, betas = [] }, sink, signal) {
      const request = { model: name, body: Buffer.concat(body).toString(), betas };
      requests.push(request);
      const number = requests.length;
      const answer = choose(request, number);
      if (answer === undefined) throw new Error(`scriptedModel: no answer for request ${number}`);
      const messageId = `msg_${number}`;
      let unfinished = '';
      let usage: Usage = { ...NO_USAGE, input: 100, output: 10 };
      let stopReason: string | undefined;
      let wantsCalls = false;
      let index = 0;
      const throwIfAborted = () => {
        if (!signal.aborted) return;
        const text = unfinished === '' ? null : { type: 'text', text: unfinished };
        const partial = { messageId, usage, unfinishedText: text };
        throw new ModelFailure('aborted', 'The request was interrupted.', { partial });
      };
      await Promise.resolve();
      throwIfAborted();
      sink.started();
      sink.event?.({ type: 'message_start', message: { id: messageId, model: name } });
      for (const step of answer) {
        throwIfAborted();
        if (step.does === 'block') {
          unfinished = '';
          wantsCalls ||= step.block.call !== undefined;
          const content_block: unknown = JSON.parse(step.block.raw);
          sink.event?.({ type: 'content_block_start', index, content_block });
          sink.event?.({ type: 'content_block_stop', index });
          index += 1;
          sink.blockEnded(step.block);
        } else if (step.does === 'write') unfinished += step.text;
        else if (step.does === 'wait') await openedOrAborted(step.gate, signal);
        else if (step.does === 'fail') throw step.failure;
        else {
          stopReason = step.stopReason;
          usage = { ...usage, ...step.usage };
        }
        await Promise.resolve();
      }
      throwIfAborted();
      stopReason ??= wantsCalls ? 'tool_use' : 'end_turn';
      sink.event?.({ type: 'message_delta', delta: { stop_reason: stopReason } });
      sink.event?.({ type: 'message_stop' });
      return { messageId, requestId: `req_${number}`, stopReason, usage, model: name };
    },
  };
};

const openedOrAborted = (opened: Promise<void>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    void opened.then(resolve);
  });
