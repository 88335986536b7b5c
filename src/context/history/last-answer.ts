/** What the model said last, as text. */
import type { WireBlock } from '../../protocol/model/wire.js';
import type { HistoryMessage } from './history-message.js';

export const textOf = (content: readonly WireBlock[]): string =>
  content.flatMap((block) => (block.type === 'text' ? [String(block.text)] : [])).join('');

/** Empty when the newest message is not the model's. */
export const lastAnswer = (messages: readonly HistoryMessage[]): string => {
  const message = messages.at(-1);
  if (message?.role !== 'assistant') return '';
  return textOf((JSON.parse(message.bytes.toString()) as { content: WireBlock[] }).content);
};
