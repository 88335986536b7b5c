/**
 * The body of a request, put together from bytes that exist already. Nothing that was sent before is
 * serialised again: the head is made once, messages are copied, cache marks are spliced in.
 */
import type { PromptHead } from '../../protocol/model/prompt.js';
import { type Capabilities, capabilitiesOf } from '../../protocol/model/providers.js';
import type { RawJson } from '../../protocol/model/wire.js';
import { type Mark, newestAnswered, usualMarks } from './cache-breakpoints.js';
import { cacheControl } from './cache-control.js';
import { type BodyMessage, editedMessage, plainMessage, type WireMessage } from './cache-edits.js';

export type { BodyMessage } from './cache-edits.js';

export interface RequestSettings {
  readonly model: string;
  readonly maxTokens: number;
  readonly thinking?: RawJson;
  readonly outputConfig?: RawJson;
}

/** A body up to its messages, and what the last block of a marked message ends with. */
export interface BodyHead {
  readonly bytes: Buffer;
  /** Stands in for the brace that the bytes begin with, where the server is asked something ahead. */
  readonly question?: Buffer;
  /** Empty where the provider takes no marks. */
  readonly mark: Buffer;
  /** How a message is sent: with references and edits where the provider takes them. */
  readonly wire: (message: BodyMessage) => WireMessage;
}

const COMMA = Buffer.from(',');
const USER = Buffer.from('{"role":"user","content":[');
const END = Buffer.from(']}');

/** Everything up to the messages. `messages` is the last key of the body (law 2). */
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
  const mark = cacheControl(capabilities, head.ttl, null);
  return {
    bytes: Buffer.from(`{${fields.join(',')},"messages":[`),
    mark: Buffer.from(mark === null ? '' : `,"cache_control":${mark}`),
    wire: capabilities.edits ? editedMessage : plainMessage,
  };
};

/** In pieces, which are only put together when the request leaves. */
export const requestBody = (
  head: BodyHead,
  messages: readonly BodyMessage[],
  marks: readonly Mark[] = usualMarks(messages),
): readonly Buffer[] => {
  const { question, bytes } = head;
  const start = question === undefined ? [bytes] : [question, bytes.subarray(1)];
  return [...start, ...piecesOf(head, messages, marks), END];
};

/**
 * The same conversation with one more block behind it, for a request that nothing will follow. Only
 * what a request has sent before is marked: it is read from the cache, and nothing is written.
 */
export const directiveBody = (
  head: BodyHead,
  messages: readonly BodyMessage[],
  directive: RawJson,
): Buffer => {
  const last = messages.at(-1);
  // Two user messages in a row are for the API one: the block joins the last of them.
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

/** The messages with commas between them, and the marks where they go. */
const piecesOf = (
  { mark, wire }: BodyHead,
  messages: readonly BodyMessage[],
  marks: readonly Mark[],
): readonly Buffer[] => {
  const pieces: Buffer[] = [];
  for (const [index, message] of messages.entries()) {
    const { bytes, markAt, sharedAt = markAt } = wire(message);
    if (index > 0) pieces.push(COMMA);
    let from = 0;
    for (const it of marks) {
      if (it.index !== index) continue;
      const place = it.at === 'shared' ? sharedAt : markAt;
      // One block takes one mark.
      if (place === from) continue;
      pieces.push(bytes.subarray(from, place), mark);
      from = place;
    }
    pieces.push(from === 0 ? bytes : bytes.subarray(from));
  }
  return pieces;
};
