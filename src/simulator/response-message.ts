/** Message as the API sends it: a JSON object, or the events of a stream. */

import type { Diagnostics } from './cache-diagnostics.js';
import type { ComposedContent, ContentBlock } from './compose-reply.js';
import type { InputUsage } from './prompt-cache.js';

export interface ResponseMessage extends ComposedContent {
  readonly id: string;
  readonly model: string;
  readonly stopSequence: string | null;
  readonly usage: InputUsage;
  readonly diagnostics: Diagnostics | null;
}

/** Server-sent event as text. */
export interface StreamFrame {
  readonly text: string;
  readonly isDelta: boolean;
}

const DEFAULT_CHUNK_BYTES = 64;

const DIRECT = { type: 'direct' } as const;

export const wholeMessage = (message: ResponseMessage): string =>
  JSON.stringify({
    ...envelope(message),
    content: message.content.map(wholeBlock),
    stop_reason: message.stopReason,
    stop_sequence: message.stopSequence,
    stop_details: stopDetails(message),
    usage: usageOf(message, message.outputTokens),
  });

export const messageFrames = (
  message: ResponseMessage,
  chunkBytes = DEFAULT_CHUNK_BYTES,
): StreamFrame[] => {
  const start = {
    ...envelope(message),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: usageOf(message, Math.min(1, message.outputTokens)),
  };
  const frames = [frame('message_start', `"message":${JSON.stringify(start)}`)];
  message.content.forEach((block, index) => {
    frames.push(
      frame(
        'content_block_start',
        `"index":${index},"content_block":${JSON.stringify(emptyBlock(block))}`,
      ),
    );
    if (index === 0) frames.push(frame('ping'));
    for (const delta of deltasOf(block, chunkBytes))
      frames.push(frame('content_block_delta', `"index":${index},"delta":${delta}`, true));
    frames.push(frame('content_block_stop', `"index":${index}`));
  });
  const delta = {
    stop_reason: message.stopReason,
    stop_sequence: message.stopSequence,
    stop_details: stopDetails(message),
  };
  const usage = usageOf(message, message.outputTokens);
  frames.push(
    frame('message_delta', `"delta":${JSON.stringify(delta)},"usage":${JSON.stringify(usage)}`),
    frame('message_stop'),
  );
  return frames;
};

export const errorFrame = (type: string, message: string): StreamFrame =>
  frame('error', `"error":${JSON.stringify({ type, message })}`);

const frame = (event: string, fields = '', isDelta = false): StreamFrame => ({
  text: `event: ${event}\ndata: {"type":"${event}"${fields && ','}${fields}}\n\n`,
  isDelta,
});

const envelope = ({ id, model, diagnostics }: ResponseMessage) => ({
  id,
  type: 'message',
  role: 'assistant',
  model,
  diagnostics,
});

const usageOf = (message: ResponseMessage, output: number) => ({
  ...message.usage,
  output_tokens: output,
  ...(message.webSearches > 0 && {
    server_tool_use: { web_search_requests: message.webSearches, web_fetch_requests: 0 },
  }),
  service_tier: 'standard',
});

const stopDetails = ({ stopReason }: ResponseMessage) =>
  stopReason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null;

const emptyBlock = (block: ContentBlock): object => {
  if (block.type === 'text') return { type: 'text', text: '' };
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  if (!('json' in block)) return withCaller(block);
  const { type, id, name } = block;
  return { type, id, name, input: {}, caller: DIRECT };
};

const wholeBlock = (block: ContentBlock): object => {
  if (!('json' in block)) return withCaller(block);
  const { type, id, name, json } = block;
  return { type, id, name, input: parseInput(json), caller: DIRECT };
};

/** Adds the `caller` field that the API sends with results of server tools. */
const withCaller = (block: ContentBlock): object =>
  'tool_use_id' in block ? { ...block, caller: DIRECT } : block;

/** Returns `{}` for malformed JSON, because the API never sends a whole message with malformed input. */
const parseInput = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
};

const deltasOf = (block: ContentBlock, chunkBytes: number): string[] => {
  if (block.type === 'text')
    return splitByBytes(block.text, chunkBytes).map((text) => delta('text_delta', 'text', text));
  if (block.type === 'thinking')
    return [
      ...splitByBytes(block.thinking, chunkBytes).map((text) =>
        delta('thinking_delta', 'thinking', text),
      ),
      delta('signature_delta', 'signature', block.signature),
    ];
  if ('json' in block)
    return ['', ...splitByBytes(block.json, chunkBytes)].map((json) =>
      delta('input_json_delta', 'partial_json', json),
    );
  return [];
};

const delta = (type: string, field: string, text: string): string =>
  `{"type":"${type}","${field}":${JSON.stringify(text)}}`;

/** Splits a text into pieces of at most `bytes` bytes, never inside a character. */
const splitByBytes = (text: string, bytes: number): string[] => {
  const cut: string[] = [];
  if (Buffer.byteLength(text) === text.length) {
    for (let at = 0; at < text.length; at += bytes) cut.push(text.slice(at, at + bytes));
    return cut;
  }
  let piece = '';
  let size = 0;
  for (const character of text) {
    const length = Buffer.byteLength(character);
    if (piece && size + length > bytes) {
      cut.push(piece);
      piece = '';
      size = 0;
    }
    piece += character;
    size += length;
  }
  return piece ? [...cut, piece] : cut;
};
