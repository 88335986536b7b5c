/** Request facts for the rules and templates of a script: the texts and the turn number. */
import {
  type Block,
  blocksOf,
  type MessagesRequest,
  type RequestMessage,
} from './messages-request.js';

export interface RequestFacts {
  readonly model: string;
  readonly system: string;
  readonly firstUser: string;
  readonly lastUser: string;
  readonly toolResult: string;
  readonly turn: number;
}

export const requestFacts = (request: MessagesRequest): RequestFacts => {
  const { model, messages, system } = request;
  const isUser = (message: RequestMessage) => message.role === 'user';
  const last = messages.findLast(isUser);
  return {
    model,
    system: system ? textOf(blocksOf(system)) : '',
    firstUser: textOfMessage(messages.find(isUser)),
    lastUser: textOfMessage(last),
    toolResult: last ? resultsIn(blocksOf(last.content)) : '',
    turn: messages.reduce((turns, { role }) => turns + (role === 'assistant' ? 1 : 0), 0),
  };
};

/** Returns the text of a message without system reminders, because scripts match user text only. */
const textOfMessage = (message: RequestMessage | undefined): string =>
  message ? textOf(blocksOf(message.content).filter((block) => !isReminder(block))) : '';

const isReminder = ({ text = '' }: Block): boolean =>
  text.startsWith('<system-reminder>') && text.endsWith('</system-reminder>');

const textOf = (blocks: readonly Block[]): string =>
  blocks.flatMap((block) => (block.type === 'text' ? (block.text ?? '') : [])).join('\n');

const resultsIn = (blocks: readonly Block[]): string =>
  blocks.flatMap((block) => (block.type === 'tool_result' ? resultText(block) : [])).join('\n');

const resultText = ({ content }: Block): string => {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? textOf(content as Block[]) : '';
};
