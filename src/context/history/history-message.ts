/** History message: the bytes that are sent, and their text weight. */
import { type RawJson, rawText, type WireBlock } from '../../protocol/model/wire-block.js';
import type { UserPart } from '../../protocol/session/journal-record.js';
import { textWeight } from '../window/text-weight.js';

export interface HistoryMessage {
  readonly role: 'user' | 'assistant';
  /** The message as it is sent, without cache breakpoints. */
  readonly bytes: Buffer;
  /** Text weight in bytes: less than the length for images. */
  readonly weight: number;
  /** True for a user message with results, which needs the message before it. */
  readonly answersCalls: boolean;
  /** Offset of the brace that closes the last block which other agents share. */
  readonly sharedEnd?: number;
  /**
   * Offset of the brace that closes the preamble, which all agents of the session share. Only the
   * first message of a conversation has a preamble in its first block.
   */
  readonly preambleEnd?: number;
}

const CONTENT_AT = '{"role":"user","content":['.length;

/** Blocks at the start of a message. Empty if other agents do not send them. */
interface SharedBlocks {
  readonly shared?: RawJson;
  readonly preamble?: RawJson;
}

export const historyMessage = (
  role: 'user' | 'assistant',
  content: RawJson,
  answersCalls: boolean,
  { shared = '', preamble = '' }: SharedBlocks = {},
): HistoryMessage => {
  const bytes = Buffer.from(`{"role":"${role}","content":${content}}`);
  return {
    role,
    bytes,
    weight: textWeight(bytes.length, content),
    answersCalls,
    ...(shared !== '' && { sharedEnd: endOf(shared) }),
    ...(preamble !== '' && { preambleEnd: endOf(preamble) }),
  };
};

/** Returns the offset of the brace that closes the last of the blocks. */
const endOf = (blocks: RawJson): number => CONTENT_AT + Buffer.byteLength(blocks) - 1;

/**
 * Returns the message without thinking blocks. A thinking block is bound to all text before it, so
 * a server refuses it after the start of the conversation was replaced.
 */
export const withoutThinking = (message: HistoryMessage): HistoryMessage => {
  if (message.role === 'user' || !message.bytes.includes('thinking"')) return message;
  const { content } = JSON.parse(message.bytes.toString()) as { content: WireBlock[] };
  const kept = content.filter(({ type }) => type !== 'thinking' && type !== 'redacted_thinking');
  if (kept.length === content.length) return message;
  return historyMessage('assistant', kept.length > 0 ? JSON.stringify(kept) : EMPTY_ANSWER, false);
};

/** Fixed text, because a rebuilt history must have the same bytes as the cached prefix. */
const EMPTY_ANSWER = `[${rawText('(Nothing was said here.)')}]`;

/** Content that the parts of a user message cite. */
interface CitedParts {
  letter(id: string): RawJson | undefined;
  result(call: string): RawJson | undefined;
  /** Blocks that a fork reads in place of its parent's open results. */
  offer(): RawJson | undefined;
}

/** Returns the block of a part; empty if the part has no text or a damaged journal has lost it. */
export const partBlock = (part: UserPart, cited: CitedParts): RawJson => {
  if ('briefing' in part) return openingBlocks(part.briefing, part.role).join(',');
  if ('text' in part) return rawText(part.text);
  if ('offer' in part) return cited.offer() ?? '';
  if ('letter' in part) return cited.letter(part.letter) ?? '';
  return part.shown ?? cited.result(part.call) ?? '';
};

/** Returns the block of a preamble, and the block of a role after it. */
export const openingBlocks = (preamble: string, role = ''): readonly RawJson[] =>
  [preamble, role].filter((text) => text !== '').map(rawText);

/** Returns the block of the preamble if the message starts with it; else an empty text. */
export const preambleIn = ([first]: readonly UserPart[]): RawJson =>
  first !== undefined && 'briefing' in first && first.briefing !== ''
    ? rawText(first.briefing)
    : '';

/** Returns the block of the preamble if the message starts with it; else an empty text. */
export const preambleOf = ({ bytes, preambleEnd }: HistoryMessage): RawJson =>
  preambleEnd === undefined ? '' : bytes.subarray(CONTENT_AT, preambleEnd + 1).toString();

/** Returns the blocks of a user message, joined by commas. */
export const blocksIn = ({ bytes }: HistoryMessage): RawJson =>
  bytes.subarray(CONTENT_AT, -2).toString();

/** Returns the text blocks of a message's content, cut to `limit` characters. */
export const textOfContent = (content: RawJson, limit: number): string => {
  const blocks = JSON.parse(content) as WireBlock[];
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [String(block.text)] : []));
  return texts.join('\n').slice(0, limit).toWellFormed();
};
