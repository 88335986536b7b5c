/**
 * Builds the body of a request from existing bytes. Content that was sent before is not serialised
 * again: the head is made once, messages are copied, and cache breakpoints are spliced in.
 */
import type { PromptHead } from '../../protocol/model/prompt-head.js';
import { type Capabilities, capabilitiesOf } from '../../protocol/model/providers.js';
import type { RawJson } from '../../protocol/model/wire-block.js';
import { type Breakpoint, cacheBreakpoints, newestAnswered } from './cache-breakpoints.js';
import { cacheControl } from './cache-control.js';
import { type BodyMessage, editedMessage, plainMessage, type WireMessage } from './wire-message.js';

export type { BodyMessage } from './wire-message.js';

export interface RequestSettings {
  readonly model: string;
  readonly maxTokens: number;
  readonly thinking?: RawJson;
  readonly outputConfig?: RawJson;
}

/** A body up to its messages, and the text of a message breakpoint. */
export interface BodyHead {
  readonly bytes: Buffer;
  /** Replaces the first brace of `bytes` if the server is asked for cache diagnostics. */
  readonly diagnostics?: Buffer;
  /** Empty if the provider takes no breakpoints. */
  readonly breakpoint: Buffer;
  /**
   * True if the preamble ends with a breakpoint. False for the heads of earlier versions, which have
   * that breakpoint at the end of the system prompt.
   */
  readonly marksPreamble: boolean;
  /**
   * Converts a message to its wire form, with references and edits if the provider supports them.
   */
  readonly wire: (message: BodyMessage) => WireMessage;
}

const COMMA = Buffer.from(',');
const USER = Buffer.from('{"role":"user","content":[');
const END = Buffer.from(']}');

/** Builds the body up to the messages. `messages` is the last key of the body (law 2). */
export const bodyHead = (
  settings: RequestSettings,
  head: Pick<PromptHead, 'tools' | 'system' | 'ttl'>,
  capabilities: Capabilities = capabilitiesOf('firstParty'),
): BodyHead => {
  const { model, maxTokens, thinking, outputConfig } = settings;
  const fields = [
    `"model":${JSON.stringify(model)}`,
    `"max_tokens":${maxTokens}`,
    '"stream":true',
    ...(thinking === undefined ? [] : [`"thinking":${thinking}`]),
    ...(outputConfig === undefined ? [] : [`"output_config":${outputConfig}`]),
    ...(head.tools === '[]' ? [] : [`"tools":${head.tools}`]),
    `"system":${head.system}`,
  ];
  const control = cacheControl(capabilities, head.ttl, null);
  return {
    bytes: Buffer.from(`{${fields.join(',')},"messages":[`),
    breakpoint: Buffer.from(control === null ? '' : `,"cache_control":${control}`),
    marksPreamble: breakpointCount(head.system) <= MAX_HEAD_BREAKPOINTS,
    wire: capabilities.edits ? editedMessage : plainMessage,
  };
};

/** Breakpoints of tools and system prompt. The preamble and the messages have the other three. */
const MAX_HEAD_BREAKPOINTS = 1;

/** Counts the breakpoints in serialised blocks. The quotes in a text are escaped. */
const breakpointCount = (blocks: RawJson): number => blocks.split('"cache_control":').length - 1;

/**
 * Returns a head that also asks the server why it could not read the prompt from its cache.
 * `previous` is the id of the last answer, null if there was none.
 */
export const withDiagnostics = (head: BodyHead, previous: string | null): BodyHead => ({
  ...head,
  diagnostics: Buffer.from(`{"diagnostics":${JSON.stringify({ previous_message_id: previous })},`),
});

/** Returns the body as pieces, which are concatenated only when the request is sent. */
export const requestBody = (
  head: BodyHead,
  messages: readonly BodyMessage[],
  breakpoints: readonly Breakpoint[] = cacheBreakpoints(messages),
): readonly Buffer[] => {
  const { diagnostics, bytes } = head;
  const start = diagnostics === undefined ? [bytes] : [diagnostics, bytes.subarray(1)];
  return [...start, ...piecesOf(head, messages, breakpoints), END];
};

/**
 * Builds a body with an extra block after the conversation, for a request without a successor. An
 * earlier request has sent the only breakpoint, so this request reads the cache and writes no
 * entry.
 */
export const directiveBody = (
  head: BodyHead,
  messages: readonly BodyMessage[],
  directive: RawJson,
): Buffer => {
  const last = messages.at(-1);
  // The API merges consecutive user messages, so the block is appended to the last user message.
  const open = last?.role === 'user' ? head.wire(last).bytes.subarray(0, -2) : undefined;
  const sent = open === undefined ? messages : messages.slice(0, -1);
  return Buffer.concat([
    head.bytes,
    ...piecesOf(head, sent, [{ index: newestAnswered(sent), at: 'end' }]),
    ...(sent.length > 0 ? [COMMA] : []),
    ...(open === undefined ? [USER] : [open, COMMA]),
    Buffer.from(`${directive}]}`),
    END,
  ]);
};

/** Returns the messages with commas between them and the breakpoints spliced in. */
const piecesOf = (
  { breakpoint, marksPreamble, wire }: BodyHead,
  messages: readonly BodyMessage[],
  breakpoints: readonly Breakpoint[],
): readonly Buffer[] => {
  const pieces: Buffer[] = [];
  for (const [index, message] of messages.entries()) {
    const { bytes, breakpointAt, sharedAt = breakpointAt, preambleAt } = wire(message);
    if (index > 0) pieces.push(COMMA);
    let from = 0;
    if (marksPreamble && preambleAt !== undefined) {
      pieces.push(bytes.subarray(0, preambleAt), breakpoint);
      from = preambleAt;
    }
    for (const position of breakpoints) {
      if (position.index !== index) continue;
      const offset = position.at === 'shared' ? sharedAt : breakpointAt;
      // The API allows a single breakpoint per block.
      if (offset === from) continue;
      pieces.push(bytes.subarray(from, offset), breakpoint);
      from = offset;
    }
    pieces.push(from === 0 ? bytes : bytes.subarray(from));
  }
  return pieces;
};
