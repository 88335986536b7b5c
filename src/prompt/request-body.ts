/**
 * The body of a request, put together from bytes that exist already. Nothing that was sent before is
 * serialised again: the head is made once, messages are copied, cache marks are spliced in.
 */
import type { RawJson } from '../protocol/wire.js';

export interface RequestSettings {
  readonly model: string;
  readonly maxTokens: number;
  readonly thinking?: RawJson;
  readonly outputConfig?: RawJson;
}

/** The parts of a prompt ahead of its messages, as JSON text with their cache marks in place. */
export interface PromptHead {
  readonly tools: RawJson;
  readonly system: RawJson;
}

export interface BodyMessage {
  readonly role: 'user' | 'assistant';
  readonly bytes: Buffer;
}

const MARK = Buffer.from(',"cache_control":{"type":"ephemeral"}');
const COMMA = Buffer.from(',');
const END = Buffer.from(']}');
/** A message ends with its last block, its content and itself: `}]}`. */
const CLOSING = 3;

/** Everything up to the messages. `messages` is the last key of the body (law 2). */
export const bodyHead = (settings: RequestSettings, head: PromptHead): Buffer => {
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
  return Buffer.from(`{${fields.join(',')},"messages":[`);
};

/**
 * Marks go on the last block of the newest user message and of the one before it, so that a turn of
 * a hundred parallel calls still reads its history from the cache.
 */
export const requestBody = (head: Buffer, messages: readonly BodyMessage[]): Buffer => {
  const marked = newestUserMessages(messages, 2);
  const pieces: Buffer[] = [head];
  for (const [index, { bytes }] of messages.entries()) {
    if (index > 0) pieces.push(COMMA);
    if (marked.includes(index)) pieces.push(...withMark(bytes));
    else pieces.push(bytes);
  }
  pieces.push(END);
  return Buffer.concat(pieces);
};

/**
 * The same conversation with one more block behind it, for a request that nothing will follow. Only
 * what a request has sent before is marked: it is read from the cache, and nothing is written.
 */
export const directiveBody = (
  head: Buffer,
  messages: readonly BodyMessage[],
  directive: RawJson,
): Buffer => {
  const isOpen = messages.at(-1)?.role === 'user';
  const sent = isOpen ? messages.slice(0, -1) : messages;
  const [marked] = newestUserMessages(sent, 1);
  const pieces: Buffer[] = [head];
  for (const [index, { bytes }] of sent.entries()) {
    if (index > 0) pieces.push(COMMA);
    if (index === marked) pieces.push(...withMark(bytes));
    else pieces.push(bytes);
  }
  if (sent.length > 0) pieces.push(COMMA);
  // Two user messages in a row are for the API one: the block joins the last of them.
  const last = messages.at(-1)?.bytes;
  const opened = isOpen && last ? last.subarray(0, -2) : Buffer.from('{"role":"user","content":[');
  pieces.push(opened, Buffer.from(isOpen ? `,${directive}]}` : `${directive}]}`), END);
  return Buffer.concat(pieces);
};

const withMark = (bytes: Buffer): readonly Buffer[] => {
  const cut = bytes.length - CLOSING;
  return [bytes.subarray(0, cut), MARK, bytes.subarray(cut)];
};

const newestUserMessages = (messages: readonly BodyMessage[], most: number): readonly number[] => {
  const found: number[] = [];
  for (let index = messages.length - 1; index >= 0 && found.length < most; index -= 1) {
    if (messages[index]?.role === 'user') found.push(index);
  }
  return found;
};
