/**
 * What travels to and from a Messages API, as far as the house looks into it. Blocks are kept as the
 * JSON text that was received or first written; these types describe what is inside when it is read.
 */

/** JSON text of one value, exactly as it goes on the wire. */
export type RawJson = string;

export type WireBlock = { readonly type: string } & Readonly<Record<string, unknown>>;

/** A block that has ended, with the text it will be sent as for the rest of the agent's life. */
export interface EndedBlock {
  readonly type: string;
  readonly raw: RawJson;
  /** Present on `tool_use`: what the model wants called. */
  readonly call?: WantedCall;
}

export interface WantedCall {
  readonly id: string;
  readonly tool: string;
  /** The parsed input; `{}` when the model's JSON was broken. */
  readonly input: unknown;
  /** What the model wrote, when it was not JSON. The call is answered with it and never runs. */
  readonly malformed?: string;
}

/** Text of a user block on the wire. */
export const rawText = (text: string): RawJson => JSON.stringify({ type: 'text', text });
