/** One message of a history: the bytes that are sent, and what they weigh. */
import { type RawJson, rawText, type WireBlock } from '../../protocol/model/wire.js';
import { weightOf } from '../window/tokens.js';

export interface HistoryMessage {
  readonly role: 'user' | 'assistant';
  /** The message as it goes on the wire, without cache marks. */
  readonly bytes: Buffer;
  /** Bytes of text that it counts for: a picture is less than its bytes. */
  readonly weight: number;
  /** A user message that answers calls: it cannot stand without the message before it. */
  readonly answersCalls: boolean;
  /** Bytes up to the brace that closes the last block which other agents begin with too. */
  readonly sharedEnd?: number;
}

const CONTENT_AT = '{"role":"user","content":['.length;

export const messageOf = (
  role: 'user' | 'assistant',
  content: RawJson,
  answersCalls: boolean,
  shared: RawJson = '',
): HistoryMessage => {
  const bytes = Buffer.from(`{"role":"${role}","content":${content}}`);
  return {
    role,
    bytes,
    weight: weightOf(bytes.length, content),
    answersCalls,
    ...(shared !== '' && { sharedEnd: CONTENT_AT + Buffer.byteLength(shared) - 1 }),
  };
};

/**
 * A thought is bound to every word before it, and a server refuses one that comes after other words.
 * So where the beginning of a conversation is replaced, what is left of it goes on without thoughts.
 */
export const withoutThoughts = (message: HistoryMessage): HistoryMessage => {
  if (message.role === 'user' || !message.bytes.includes('thinking"')) return message;
  const { content } = JSON.parse(message.bytes.toString()) as { content: WireBlock[] };
  const said = content.filter(({ type }) => type !== 'thinking' && type !== 'redacted_thinking');
  if (said.length === content.length) return message;
  return messageOf('assistant', said.length > 0 ? JSON.stringify(said) : NOTHING_SAID, false);
};

const NOTHING_SAID = `[${rawText('(Nothing was said here.)')}]`;

/** The blocks of a user message with the commas between them. */
export const blocksIn = ({ bytes }: HistoryMessage): RawJson =>
  bytes.subarray(CONTENT_AT, -2).toString();

export const textIn = (content: RawJson, limit: number): string => {
  const blocks = JSON.parse(content) as WireBlock[];
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [String(block.text)] : []));
  return texts.join('\n').slice(0, limit).toWellFormed();
};
