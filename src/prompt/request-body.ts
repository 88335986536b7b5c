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
  const marked = newestUserMessages(messages);
  const pieces: Buffer[] = [head];
  for (const [index, { bytes }] of messages.entries()) {
    if (index > 0) pieces.push(COMMA);
    if (marked.includes(index)) {
      const cut = bytes.length - CLOSING;
      pieces.push(bytes.subarray(0, cut), MARK, bytes.subarray(cut));
    } else pieces.push(bytes);
  }
  pieces.push(END);
  return Buffer.concat(pieces);
};

const newestUserMessages = (messages: readonly BodyMessage[]): readonly number[] => {
  const found: number[] = [];
  for (let index = messages.length - 1; index >= 0 && found.length < 2; index -= 1) {
    if (messages[index]?.role === 'user') found.push(index);
  }
  return found;
};
