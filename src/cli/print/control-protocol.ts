/**
 * Control protocol (`--input-format stream-json`): reads prompts and control lines of the driving
 * program, and sends questions to it. It is a surface: its answers count as answers of the person.
 */
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { RawJson } from '../../protocol/model/wire-block.js';
import {
  type PermissionAnswer,
  type PermissionQuestion,
  type PersonAnswer,
  type PersonQuestion,
  SURFACE_CLOSED,
  type Surface,
} from '../../protocol/permission/permission-question.js';
import { promptContent, toWireBlocks } from '../../sdk/api/messages/prompt-content.js';
import { canUseToolAnswer, canUseToolRequest } from './can-use-tool-request.js';

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

const choice = z.object({
  chosen: z.array(z.string()).max(100),
  text: z.string().optional(),
});

interface ControlHandlers {
  prompt(blocks: RawJson): void;
  interrupt(): void;
  /** Receives a sentence about a line that was ignored. The run continues. */
  notify(sentence: string): void;
}

/** Maximum characters of a line. Longer lines are ignored. */
const MAX_LINE_LENGTH = 32 * 1024 * 1024;

/** Request to the driver that has no response yet. */
interface OpenRequest {
  /** Returns false if the response is not valid. */
  accept(response: unknown): boolean;
  /** Settles the request after an error response or an invalid response. */
  fail(reason: string): void;
  /** Rejects the request because stdin is closed. Other surfaces may still answer. */
  abandon(): void;
}

export class ControlProtocol implements Surface {
  private readonly write: (line: string) => void;
  private readonly open = new Map<string, OpenRequest>();
  private isClosed = false;

  constructor(write: (line: string) => void) {
    this.write = write;
  }

  /** Resolves when the input ends or the signal aborts. Abandons open questions then. */
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
      if (line.length > MAX_LINE_LENGTH) handlers.notify(`Line ${count} of stdin is too long.`);
      else this.handleLine(line, count, handlers);
    }
    this.isClosed = true;
    for (const question of this.open.values()) question.abandon();
  }

  ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionAnswer> {
    return new Promise((resolve, reject) => {
      const fail = (reason: string) => resolve({ behavior: 'deny', reason });
      const abandon = () => reject(new Error(SURFACE_CLOSED));
      const accept = (response: unknown) => {
        const answer = canUseToolAnswer(question, response);
        if (answer !== undefined) resolve(answer);
        return answer !== undefined;
      };
      this.send(question.id, canUseToolRequest(question), { accept, fail, abandon }, signal);
    });
  }

  choose(personQuestion: PersonQuestion, signal: AbortSignal): Promise<PersonAnswer> {
    const { id, call, question, options, multiple } = personQuestion;
    const request = { subtype: 'ask_user', question, options, multiple, tool_use_id: call };
    return new Promise((resolve, reject) => {
      const fail = (reason: string) => reject(new Error(reason));
      const abandon = () => fail(SURFACE_CLOSED);
      const accept = (response: unknown) => {
        const parsed = choice.safeParse(response);
        if (parsed.success) resolve(choiceOf(parsed.data));
        return parsed.success;
      };
      this.send(id, request, { accept, fail, abandon }, signal);
    });
  }

  private send(id: string, request: object, question: OpenRequest, signal: AbortSignal): void {
    if (this.isClosed) {
      question.abandon();
      return;
    }
    this.open.set(id, question);
    signal.addEventListener('abort', () => this.withdraw(id), { once: true });
    this.write(JSON.stringify({ type: 'control_request', request_id: id, request }));
  }

  private withdraw(id: string): void {
    if (!this.open.delete(id)) return;
    this.write(JSON.stringify({ type: 'control_cancel_request', request_id: id }));
  }

  private handleLine(line: string, number: number, handlers: ControlHandlers): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      handlers.notify(`Line ${number} of stdin is not JSON and was ignored.`);
      return;
    }
    const user = userLine.safeParse(value);
    if (user.success) {
      handlers.prompt(toWireBlocks(user.data.message.content));
      return;
    }
    const request = controlRequest.safeParse(value);
    if (request.success) {
      this.serve(request.data.request_id, request.data.request.subtype, handlers);
      return;
    }
    const response = controlResponse.safeParse(value);
    if (response.success) this.settle(response.data.response, number, handlers);
    else handlers.notify(`Line ${number} of stdin ${problemOf(value)}; it was ignored.`);
  }

  private serve(request_id: string, subtype: string, { interrupt }: ControlHandlers): void {
    const isKnown = subtype === 'interrupt' || subtype === 'initialize';
    if (subtype === 'interrupt') interrupt();
    const response = isKnown
      ? { subtype: 'success', request_id, response: {} }
      : { subtype: 'error', request_id, error: `"${subtype}" is not supported.` };
    this.write(JSON.stringify({ type: 'control_response', response }));
  }

  private settle(
    { request_id, subtype, response, error }: z.infer<typeof controlResponse>['response'],
    line: number,
    { notify }: ControlHandlers,
  ): void {
    const question = this.open.get(request_id);
    if (question === undefined) {
      notify(`Line ${line} of stdin answers no open question.`);
      return;
    }
    this.open.delete(request_id);
    if (subtype !== 'success' || !question.accept(response)) {
      question.fail(error ?? 'The answer could not be understood.');
    }
  }
}

const choiceOf = ({ chosen, text }: z.infer<typeof choice>): PersonAnswer =>
  text === undefined ? { chosen } : { chosen, text };

const problemOf = (value: unknown): string =>
  (value as { type?: unknown } | null)?.type === 'user'
    ? 'is not a prompt of text, images or documents'
    : 'is not a known message';
