/**
 * Builds the wire form of a message. For providers with `cache_reference` and `cache_edits`, old
 * results are dropped from the server's cache without a change of the prefix. Every later
 * request repeats the edits after the message that they were first sent with.
 */
import type { RawJson } from '../../protocol/model/wire-block.js';

export interface BodyMessage {
  readonly role: 'user' | 'assistant';
  readonly bytes: Buffer;
  /** Offset of the brace that closes the last block which other agents share. */
  readonly sharedEnd?: number;
  /** Offset of the brace that closes the preamble, the first block of a conversation. */
  readonly preambleEnd?: number;
  /** Calls with results that the server drops; sent after this message. */
  readonly drops?: readonly string[];
}

/** A message as it is sent, with the byte offsets where a cache breakpoint can go. */
export interface WireMessage {
  readonly bytes: Buffer;
  readonly breakpointAt: number;
  /** Offset after the blocks that other agents share. */
  readonly sharedAt?: number;
  /** Offset after the preamble. */
  readonly preambleAt?: number;
}

/** Length of `}]}`, which ends the last block, the content and the message. */
const CLOSING = 3;

/**
 * Matches the start of a result block. JSON text cannot contain it, because its quotes are escaped.
 */
const RESULT = /\{"type":"tool_result","tool_use_id":("(?:[^"\\]|\\.)*")/g;

export const plainMessage = ({ bytes, sharedEnd, preambleEnd }: BodyMessage): WireMessage => ({
  bytes,
  breakpointAt: bytes.length - CLOSING,
  ...(sharedEnd !== undefined && { sharedAt: sharedEnd }),
  ...(preambleEnd !== undefined && { preambleAt: preambleEnd }),
});

/**
 * Adds references and edits. The breakpoint goes before the edits, because they are not content.
 */
export const editedMessage = (message: BodyMessage): WireMessage => {
  if (message.role === 'assistant') return plainMessage(message);
  const bytes = referenced(message.bytes);
  const { drops = [], sharedEnd, preambleEnd } = message;
  const offsets = {
    breakpointAt: bytes.length - CLOSING,
    ...(sharedEnd !== undefined && {
      sharedAt: withReferences(message.bytes.subarray(0, sharedEnd)).length,
    }),
    // No result comes before the preamble, so references do not move it.
    ...(preambleEnd !== undefined && { preambleAt: preambleEnd }),
  };
  if (drops.length === 0) return { bytes, ...offsets };
  const edits = Buffer.from(`,${editsBlock(drops)}]}`);
  return { bytes: Buffer.concat([bytes.subarray(0, -2), edits]), ...offsets };
};

const editsBlock = (drops: readonly string[]): RawJson =>
  JSON.stringify({
    type: 'cache_edits',
    edits: drops.map((call) => ({ type: 'delete', cache_reference: call })),
  });

/** Cache by message bytes, which never change. */
const withReferencesOf = new WeakMap<Buffer, Buffer>();

const referenced = (bytes: Buffer): Buffer => {
  const converted = withReferencesOf.get(bytes) ?? withReferences(bytes);
  withReferencesOf.set(bytes, converted);
  return converted;
};

/** Works on Latin-1, because that decoding keeps every byte. */
const withReferences = (bytes: Buffer): Buffer =>
  Buffer.from(bytes.toString('latin1').replaceAll(RESULT, '$&,"cache_reference":$1'), 'latin1');
