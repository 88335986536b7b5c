/**
 * JSON line channel between a program and its agent's process: one JSON object per line, in the
 * vocabulary of stream-json. Both ends send requests (`control_request`), cancel them
 * (`control_cancel_request`) and respond once (`control_response`). All other lines are messages of a run.
 * Both ends have the same version, because one starts the other.
 */

import { z } from 'zod';
import { parseJson } from '../../lib/json/parse-json.js';
import { SkeinError, StorageError, UsageError } from '../../protocol/skein-error.js';

/** Maximum bytes of a line (characters when writing), more than any prompt or result of a model. */
export const MAX_CHANNEL_LINE = 128 * 1024 * 1024;

/** The other process failed or has ended. */
export class SubprocessError extends SkeinError {
  readonly code = 'subprocess';
}

interface ChannelOwner {
  write(line: string): void;
  /** Handles a request. Its value or error is the response. `signal` aborts if the request is cancelled. */
  serve(request: ChannelRequest, signal: AbortSignal): Promise<unknown>;
  /** Receives a line that is neither a request nor a response. */
  receive(message: object): void;
}

const channelRequest = z.looseObject({ subtype: z.string() });
export type ChannelRequest = z.infer<typeof channelRequest>;

const line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('control_request'), request_id: z.string(), request: channelRequest }),
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
  private readonly end: ChannelOwner;
  private readonly open = new Map<string, OpenRequest>();
  private readonly served = new Map<string, AbortController>();
  private count = 0;
  private closed: Error | undefined;

  constructor(end: ChannelOwner) {
    this.end = end;
  }

  /** Takes one line of the other end. Throws SubprocessError if it is not valid. */
  take(text: string): void {
    const value = parsed(text);
    if (!value.type.startsWith('control_')) {
      this.end.receive(value);
      return;
    }
    const { success, data } = line.safeParse(value);
    if (!success) throw new SubprocessError(NO_LINE);
    if (data.type === 'control_response') this.settle(data.response);
    else if (data.type === 'control_request') void this.serve(data.request_id, data.request);
    else this.served.get(data.request_id)?.abort();
  }

  /**
   * Sends a request and resolves with the response. Rejects with the error of the other end. If `signal`
   * aborts, the other end is asked to cancel; it still responds.
   */
  request(request: ChannelRequest, signal?: AbortSignal): Promise<unknown> {
    this.count += 1;
    const request_id = String(this.count);
    const text = JSON.stringify({ type: 'control_request', request_id, request });
    if (text.length > MAX_CHANNEL_LINE) return Promise.reject(new UsageError(TOO_LONG));
    const cancel = () => this.writeLine({ type: 'control_cancel_request', request_id });
    const response = new Promise<unknown>((resolve, reject) => {
      if (this.closed !== undefined) reject(this.closed);
      else this.open.set(request_id, { resolve, reject });
    });
    this.end.write(text);
    if (signal?.aborted === true) cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    return response.finally(() => signal?.removeEventListener('abort', cancel));
  }

  /** Rejects all open requests with `reason` and aborts all requests in progress. */
  close(reason: Error): void {
    this.closed ??= reason;
    for (const { reject } of this.open.values()) reject(reason);
    this.open.clear();
    for (const controller of this.served.values()) controller.abort();
  }

  private async serve(request_id: string, request: ChannelRequest): Promise<void> {
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
    this.writeLine({ type: 'control_response', response });
  }

  private settle({ request_id, subtype, response, error = '', code }: Response): void {
    const request = this.open.get(request_id);
    this.open.delete(request_id);
    if (subtype === 'success') request?.resolve(response);
    else request?.reject(errorOf(error, code));
  }

  private writeLine(value: object): void {
    this.end.write(JSON.stringify(value));
  }
}

const NO_LINE = 'printed a line that is not a message';
const TOO_LONG = `A request to the agent's process may have at most ${MAX_CHANNEL_LINE} characters.`;

const parsed = (text: string): { readonly type: string } => {
  const value = parseJson(text) as { readonly type?: unknown } | null | undefined;
  if (typeof value?.type !== 'string') throw new SubprocessError(NO_LINE);
  return value as { readonly type: string };
};

const errorOf = (text: string, code: string | undefined): Error => {
  if (code === 'usage') return new UsageError(text);
  return code === 'storage' ? new StorageError(text) : new SubprocessError(text);
};
