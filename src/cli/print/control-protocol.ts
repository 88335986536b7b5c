/**
 * `--input-format stream-json`: prompts and control lines from the program that runs us, and our
 * questions to it. It is a surface: what it answers is the person's answer.
 */
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { RawJson } from '../../protocol/model/wire.js';
import type {
  PermissionAnswer,
  PermissionQuestion,
  PersonAnswer,
  PersonQuestion,
  Surface,
} from '../../protocol/permission/permission.js';
import { promptBlocks, promptContent } from '../../sdk/api/messages/prompt-blocks.js';
import { canUseToolAnswer, canUseToolRequest } from './can-use-tool.js';

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

export interface ControlHandlers {
  prompt(blocks: RawJson): void;
  interrupt(): void;
  /** A line that is not understood; the run goes on. */
  complain(sentence: string): void;
}

/** A line longer than this is not read: no prompt is. */
const MAX_LINE = 32 * 1024 * 1024;

/** A question that the other side has not answered yet. */
interface OpenQuestion {
  /** False when the answer makes no sense. */
  take(response: unknown): boolean;
  /** The other side has said that it has no answer, or none that makes sense. */
  giveUp(reason: string): void;
  /** The other side is not there: somebody else may have an answer. */
  leave(): void;
}

export class ControlLines implements Surface {
  private readonly write: (line: string) => void;
  private readonly open = new Map<string, OpenQuestion>();
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
    for (const question of this.open.values()) question.leave();
  }

  ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionAnswer> {
    return new Promise((resolve, reject) => {
      const giveUp = (why: string) => resolve({ behavior: 'deny', reason: why });
      const leave = () => reject(new Error(GONE));
      const take = (response: unknown) => {
        const answer = canUseToolAnswer(question, response);
        if (answer !== undefined) resolve(answer);
        return answer !== undefined;
      };
      this.put(question.id, canUseToolRequest(question), { take, giveUp, leave }, signal);
    });
  }

  choose(asked: PersonQuestion, signal: AbortSignal): Promise<PersonAnswer> {
    const { id, call, question, options, multiple } = asked;
    const request = { subtype: 'ask_user', question, options, multiple, tool_use_id: call };
    return new Promise((resolve, reject) => {
      const giveUp = (why: string) => reject(new Error(why));
      const leave = () => giveUp(GONE);
      const take = (response: unknown) => {
        const parsed = choice.safeParse(response);
        if (parsed.success) resolve(choiceOf(parsed.data));
        return parsed.success;
      };
      this.put(id, request, { take, giveUp, leave }, signal);
    });
  }

  private put(id: string, request: object, question: OpenQuestion, signal: AbortSignal): void {
    if (this.ended) {
      question.leave();
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
    const question = this.open.get(request_id);
    if (question === undefined) {
      complain(`Line ${line} of stdin answers no open question.`);
      return;
    }
    this.open.delete(request_id);
    if (subtype !== 'success' || !question.take(response)) {
      question.giveUp(error ?? 'The answer could not be understood.');
    }
  }
}

const GONE = 'Nobody is there to answer any more.';

const choiceOf = ({ chosen, text }: z.infer<typeof choice>): PersonAnswer =>
  text === undefined ? { chosen } : { chosen, text };

const whatIsWrong = (value: unknown): string =>
  (value as { type?: unknown } | null)?.type === 'user'
    ? 'is not a prompt of text, images or documents'
    : 'is no message that is known';
