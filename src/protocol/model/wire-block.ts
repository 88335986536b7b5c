/**
 * Content blocks of the Messages API, as far as Skein reads them. Blocks are stored as the JSON text
 * that was received or first written. These types describe the parsed values.
 */

/** JSON text of one value, exactly as it is sent. */
export type RawJson = string;

export type WireBlock = { readonly type: string } & Readonly<Record<string, unknown>>;

/** A complete block. `raw` is sent unchanged in every later request. */
export interface EndedBlock {
  readonly type: string;
  readonly raw: RawJson;
  /** The requested call. Only on `tool_use` blocks. */
  readonly call?: RequestedCall;
}

export interface RequestedCall {
  readonly id: string;
  readonly tool: string;
  /** The parsed input, or `{}` if the model's JSON was malformed. */
  readonly input: unknown;
  /** The model's text if it was not JSON. The call fails with this text and never runs. */
  readonly malformed?: string;
}

/** Serialises a text block. */
export const rawText = (text: string): RawJson => JSON.stringify({ type: 'text', text });
