/**
 * What a program and the process of its agent say to each other: one JSON object a line, in the words of
 * stream-json. Both ends ask (`control_request`), take back what they asked (`control_cancel_request`)
 * and answer once (`control_response`); every other line is a message of a run. Both ends are of one
 * version, because one starts the other.
 */
import { z } from 'zod';
import { SkeinError, StorageError, UsageError } from '../../protocol/errors.js';

/** Bytes, or characters where it is written: more than any prompt or result that a model takes. */
export const LONGEST_LINE = 128 * 1024 * 1024;

/** The other process failed, or is not there any more. */
export class SubprocessError extends SkeinError {
  readonly code = 'subprocess';
}

export interface LinkEnd {
  write(line: string): void;
  /** What it resolves with, or throws, is the answer. `signal` aborts when nobody wants it any more. */
  serve(request: AskedRequest, signal: AbortSignal): Promise<unknown>;
  /** A line that asks and answers nothing. */
  heed(message: object): void;
}

const askedRequest = z.looseObject({ subtype: z.string() });
export type AskedRequest = z.infer<typeof askedRequest>;

const line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('control_request'), request_id: z.string(), request: askedRequest }),
  z.object({ type: z.literal('control_cancel_request'), request_id: z.string() }),
  z.object({
    type: z.literal('control_response'),
    response: z.object({
      subtype: z.enum(['success', 'error']),
      request_id: z.string(),
      response: z.unknown().optional(),
      error: z.string().optional(),
      code: z.string().optional(),
    }),
  }),
]);
type Response = Extract<z.infer<typeof line>, { type: 'control_response' }>['response'];

interface OpenRequest {
  readonly resolve: (response: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class JsonLineChannel {
  private readonly end: LinkEnd;
  private readonly open = new Map<string, OpenRequest>();
  private readonly served = new Map<string, AbortController>();
  private count = 0;
  private closed: Error | undefined;

  constructor(end: LinkEnd) {
    this.end = end;
  }

  /** One line of the other end. Throws a SubprocessError for what is none. */
  take(text: string): void {
    const value = parsed(text);
    if (!value.type.startsWith('control_')) {
      this.end.heed(value);
      return;
    }
    const { success, data } = line.safeParse(value);
    if (!success) throw new SubprocessError(NO_LINE);
    if (data.type === 'control_response') this.settle(data.response);
    else if (data.type === 'control_request') void this.serve(data.request_id, data.request);
    else this.served.get(data.request_id)?.abort();
  }

  /** When `signal` aborts the other end is told, and still answers. Rejects as the other end did. */
  request(request: AskedRequest, signal?: AbortSignal): Promise<unknown> {
    this.count += 1;
    const request_id = String(this.count);
    const text = JSON.stringify({ type: 'control_request', request_id, request });
    if (text.length > LONGEST_LINE) return Promise.reject(new UsageError(TOO_LONG));
    const withdraw = () => this.say({ type: 'control_cancel_request', request_id });
    const response = new Promise<unknown>((resolve, reject) => {
      if (this.closed !== undefined) reject(this.closed);
      else this.open.set(request_id, { resolve, reject });
    });
    this.end.write(text);
    if (signal?.aborted === true) withdraw();
    signal?.addEventListener('abort', withdraw, { once: true });
    return response.finally(() => signal?.removeEventListener('abort', withdraw));
  }

  /** The other end is gone: nobody answers any more, and nobody wants answers. */
  close(reason: Error): void {
    this.closed ??= reason;
    for (const { reject } of this.open.values()) reject(reason);
    this.open.clear();
    for (const controller of this.served.values()) controller.abort();
  }

  private async serve(request_id: string, request: AskedRequest): Promise<void> {
    const controller = new AbortController();
    this.served.set(request_id, controller);
    try {
      const response = await this.end.serve(request, controller.signal);
      this.respond({ subtype: 'success', request_id, response });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      const code = error instanceof SkeinError ? error.code : 'unknown';
      this.respond({ subtype: 'error', request_id, error: text, code });
    } finally {
      this.served.delete(request_id);
    }
  }

  private respond(response: Response): void {
    this.say({ type: 'control_response', response });
  }

  private settle({ request_id, subtype, response, error = '', code }: Response): void {
    const request = this.open.get(request_id);
    this.open.delete(request_id);
    if (subtype === 'success') request?.resolve(response);
    else request?.reject(errorOf(error, code));
  }

  private say(value: object): void {
    this.end.write(JSON.stringify(value));
  }
}

const NO_LINE = 'printed a line that is no message';
const TOO_LONG = `What is handed to a process of its own may have ${LONGEST_LINE} characters.`;

const parsed = (text: string): { readonly type: string } => {
  let value: { readonly type?: unknown } | null = null;
  try {
    value = JSON.parse(text);
  } catch {
    // Told below.
  }
  if (typeof value?.type !== 'string') throw new SubprocessError(NO_LINE);
  return value as { readonly type: string };
};

const errorOf = (text: string, code: string | undefined): Error => {
  if (code === 'usage') return new UsageError(text);
  return code === 'storage' ? new StorageError(text) : new SubprocessError(text);
};
