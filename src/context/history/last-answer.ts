/** Text of the model's last answer. */
import type { WireBlock } from '../../protocol/model/wire-block.js';
import type { HistoryMessage } from './history-message.js';

export const blocksText = (content: readonly WireBlock[]): string =>
  content.flatMap((block) => (block.type === 'text' ? [String(block.text)] : [])).join('');

/** Returns an empty text if the newest message is not an assistant message. */
export const lastAnswer = (messages: readonly HistoryMessage[]): string => {
  const message = messages.at(-1);
  if (message?.role !== 'assistant') return '';
  return blocksText((JSON.parse(message.bytes.toString()) as { content: WireBlock[] }).content);
};
