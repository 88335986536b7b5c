/**
 * Old results dropped from the server's cache without a change of the prefix (K10), for providers
 * that take `cache_reference` and `cache_edits`. What was sent is sent again, edits included: each
 * stays behind the message that it was first sent with.
 */
import type { RawJson } from '../../protocol/model/wire.js';

export interface BodyMessage {
  readonly role: 'user' | 'assistant';
  readonly bytes: Buffer;
  /** Bytes up to the brace that closes the last block which other agents begin with too. */
  readonly sharedEnd?: number;
  /** Calls whose results the server is to drop, told behind this message when it is first sent. */
  readonly drops?: readonly string[];
}

/** A message as it is sent, and where in it a cache mark goes. */
export interface WireMessage {
  readonly bytes: Buffer;
  readonly markAt: number;
  /** The same behind what other agents begin with too. */
  readonly sharedAt?: number;
}

/** A message ends with its last block, its content and itself: `}]}`. */
const CLOSING = 3;

/** Ids of calls hold no quotes that are not escaped, and neither does any text around them. */
const RESULT = /\{"type":"tool_result","tool_use_id":("(?:[^"\\]|\\.)*")/g;

export const plainMessage = ({ bytes, sharedEnd }: BodyMessage): WireMessage => ({
  bytes,
  markAt: bytes.length - CLOSING,
  ...(sharedEnd !== undefined && { sharedAt: sharedEnd }),
});

/** The mark stays ahead of the edits: they are no part of what was said. */
export const editedMessage = (message: BodyMessage): WireMessage => {
  if (message.role === 'assistant') return plainMessage(message);
  const bytes = referenced(message.bytes);
  const { drops = [], sharedEnd } = message;
  const markAt = bytes.length - CLOSING;
  const shared =
    sharedEnd === undefined
      ? undefined
      : { sharedAt: withReferences(message.bytes.subarray(0, sharedEnd)).length };
  if (drops.length === 0) return { bytes, markAt, ...shared };
  const edits = Buffer.from(`,${editsBlock(drops)}]}`);
  return { bytes: Buffer.concat([bytes.subarray(0, -2), edits]), markAt, ...shared };
};

const editsBlock = (drops: readonly string[]): RawJson =>
  JSON.stringify({
    type: 'cache_edits',
    edits: drops.map((call) => ({ type: 'delete', cache_reference: call })),
  });

/** Made once for a message, as its bytes are. */
const made = new WeakMap<Buffer, Buffer>();

const referenced = (bytes: Buffer): Buffer => {
  const known = made.get(bytes) ?? withReferences(bytes);
  made.set(bytes, known);
  return known;
};

/** Latin-1 keeps every byte as it is, whatever the text is written in. */
const withReferences = (bytes: Buffer): Buffer =>
  Buffer.from(bytes.toString('latin1').replaceAll(RESULT, '$&,"cache_reference":$1'), 'latin1');
