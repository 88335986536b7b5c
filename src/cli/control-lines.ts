/**
 * `--input-format stream-json`: prompts and control lines from the program that runs us, and our
 * questions to it. It is a surface: what it answers is the person's answer.
 */
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { PermissionAnswer, PermissionQuestion, Surface } from '../protocol/permission.js';
import type { RawJson } from '../protocol/wire.js';
import { promptBlocks, promptContent } from '../sdk/prompt-blocks.js';

const userLine = z.object({
  type: z.literal('user'),
  message: z.object({
    role: z.literal('user'),
    content: promptContent,
  }),
});

const controlRequest = z.object({
  type: z.literal('control_request'),
  request_id: z.string(),
  request: z.looseObject({ subtype: z.string() }),
});

const controlResponse = z.object({
  type: z.literal('control_response'),
  response: z.object({
    subtype: z.string(),
    request_id: z.string(),
    response: z.unknown().optional(),
    error: z.string().optional(),
  }),
});

const permission = z.union([
  z.object({
    behavior: z.literal('allow'),
    updatedInput: z.record(z.string(), z.unknown()).optional(),
    scope: z.enum(['once', 'session', 'project']).optional(),
  }),
  z.object({
    behavior: z.literal('deny'),
    message: z.string().optional(),
    interrupt: z.boolean().optional(),
  }),
]);

export interface ControlHandlers {
  prompt(blocks: RawJson): void;
  interrupt(): void;
  /** A line that is not understood; the run goes on. */
  complain(sentence: string): void;
}

/** A line longer than this is not read: no prompt is. */
const MAX_LINE = 32 * 1024 * 1024;

export class ControlLines implements Surface {
  private readonly write: (line: string) => void;
  private readonly open = new Map<string, (answer: PermissionAnswer) => void>();
  private ended = false;

  constructor(write: (line: string) => void) {
    this.write = write;
  }

  /** Resolves when the other side has closed its end or we stop. Open questions are then denied. */
  async read(
    input: NodeJS.ReadableStream,
    handlers: ControlHandlers,
    signal: AbortSignal,
  ): Promise<void> {
    let count = 0;
    const crlfDelay = Number.POSITIVE_INFINITY;
    for await (const line of createInterface({ input, crlfDelay, signal })) {
      count += 1;
      if (line.trim() === '') continue;
      if (line.length > MAX_LINE) handlers.complain(`Line ${count} of stdin is too long.`);
      else this.take(line, count, handlers);
    }
    this.ended = true;
    for (const answer of this.open.values()) answer(GONE);
  }

  ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionAnswer> {
    if (this.ended) return Promise.resolve(GONE);
    return new Promise((resolve) => {
      this.open.set(question.id, resolve);
      signal.addEventListener('abort', () => this.withdraw(question.id), { once: true });
      const { tool, input, call, description, reason } = question;
      const request = { subtype: 'can_use_tool', tool_name: tool, input, tool_use_id: call };
      this.write(
        JSON.stringify({
          ...{ type: 'control_request', request_id: question.id },
          request: { ...request, description, decision_reason: reason },
        }),
      );
    });
  }

  private withdraw(id: string): void {
    if (!this.open.delete(id)) return;
    this.write(JSON.stringify({ type: 'control_cancel_request', request_id: id }));
  }

  private take(line: string, number: number, handlers: ControlHandlers): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      handlers.complain(`Line ${number} of stdin is not JSON and was ignored.`);
      return;
    }
    const user = userLine.safeParse(value);
    if (user.success) {
      handlers.prompt(promptBlocks(user.data.message.content));
      return;
    }
    const request = controlRequest.safeParse(value);
    if (request.success) {
      this.serve(request.data.request_id, request.data.request.subtype, handlers);
      return;
    }
    const response = controlResponse.safeParse(value);
    if (response.success) this.settle(response.data.response, number, handlers);
    else handlers.complain(`Line ${number} of stdin ${whatIsWrong(value)}; it was ignored.`);
  }

  private serve(request_id: string, subtype: string, { interrupt }: ControlHandlers): void {
    const known = subtype === 'interrupt' || subtype === 'initialize';
    if (subtype === 'interrupt') interrupt();
    const response = known
      ? { subtype: 'success', request_id, response: {} }
      : { subtype: 'error', request_id, error: `"${subtype}" is not supported.` };
    this.write(JSON.stringify({ type: 'control_response', response }));
  }

  private settle(
    { request_id, subtype, response, error }: z.infer<typeof controlResponse>['response'],
    line: number,
    { complain }: ControlHandlers,
  ): void {
    const answer = this.open.get(request_id);
    if (answer === undefined) {
      complain(`Line ${line} of stdin answers no open question.`);
      return;
    }
    this.open.delete(request_id);
    const parsed = permission.safeParse(response);
    if (subtype !== 'success' || !parsed.success) {
      answer({ behavior: 'deny', reason: error ?? 'The answer could not be understood.' });
    } else answer(answerOf(parsed.data));
  }
}

const GONE: PermissionAnswer = {
  behavior: 'deny',
  reason: 'Nobody is there to answer any more, so the call was not run.',
};

const answerOf = (answer: z.infer<typeof permission>): PermissionAnswer => {
  if (answer.behavior === 'deny') {
    const reason = answer.message ?? 'The call was denied.';
    return { behavior: 'deny', reason, interrupt: answer.interrupt ?? false };
  }
  const { updatedInput, scope } = answer;
  return {
    behavior: 'allow',
    ...(updatedInput !== undefined && { updatedInput }),
    ...(scope !== undefined && { scope }),
  };
};

const whatIsWrong = (value: unknown): string =>
  (value as { type?: unknown } | null)?.type === 'user'
    ? 'is not a prompt of text, images or documents'
    : 'is no message that is known';
