/**
 * Makes the messages of a damaged journal valid for a model: roles alternate, and every call has its
 * result in the next message.
 */
import type { WireBlock } from '../../protocol/model/wire-block.js';
import { type HistoryMessage, historyMessage } from './history-message.js';

export const LOST_MESSAGES_TEXT =
  '[Messages were lost here, because a file of this session was damaged.]';

const LOST_RECORD_RESULT =
  'The result of this call was lost, because a file of this session was damaged. The call may have had its effect: check before you repeat it.';

const LOST: WireBlock = { type: 'text', text: LOST_MESSAGES_TEXT };

/** Returns the tool_result block of a call without a recorded result. */
export const lostResult = (call: string): WireBlock => ({
  type: 'tool_result',
  tool_use_id: call,
  content: LOST_RECORD_RESULT,
  is_error: true,
});

interface Draft {
  readonly role: 'user' | 'assistant';
  blocks: WireBlock[];
  /** The message, if it was not changed. */
  unchanged: HistoryMessage | undefined;
}

/** Returns the calls of the newest message, in order. Empty for a user message. */
export const newestCalls = (messages: readonly HistoryMessage[]): readonly string[] => {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? callsIn(blocksOf(last)) : [];
};

/**
 * Returns unchanged messages as the same objects. The next user message answers the calls `answered`: if the
 * newest message has other calls, their results are lost.
 */
export const repairMessages = (
  messages: readonly HistoryMessage[],
  answered: readonly string[],
): readonly HistoryMessage[] => {
  const drafts: Draft[] = [];
  /** Calls of the newest draft that have no result yet. */
  let open: readonly string[] = [];
  const add = (role: Draft['role'], blocks: WireBlock[], unchanged?: HistoryMessage) => {
    const draft = { role, blocks, unchanged };
    drafts.push(draft);
  };
  for (const message of messages) {
    const content = blocksOf(message);
    const last = drafts.at(-1);
    if (message.role === 'assistant') {
      if (last?.role !== 'user') {
        add('user', answering([LOST], open));
      }
      add('assistant', content, message);
      open = callsIn(content);
    } else if (last?.role === 'user') {
      last.blocks = [...last.blocks, ...content.map(asText)];
      last.unchanged = undefined;
    } else {
      const blocks = answering(content, open);
      const isSame = JSON.stringify(blocks) === JSON.stringify(content);
      add('user', blocks, isSame ? message : undefined);
      open = [];
    }
  }
  // An API refuses calls without results, in every later request too.
  if (open.length > 0 && open.join() !== answered.join()) add('user', answering([LOST], open));
  return drafts.map(
    ({ role, blocks, unchanged }) =>
      unchanged ?? historyMessage(role, JSON.stringify(blocks), blocks.some(isResult)),
  );
};

/** Returns the blocks with a result for each open call first, and results of unknown calls as text. */
const answering = (content: readonly WireBlock[], open: readonly string[]): WireBlock[] => {
  const results = new Map(
    content.filter(isResult).map((block) => [String(block.tool_use_id), block]),
  );
  const calls = new Set(open);
  const isAnswer = (block: WireBlock) => isResult(block) && calls.has(String(block.tool_use_id));
  return [
    ...open.map((call) => results.get(call) ?? lostResult(call)),
    ...content.filter((block) => !isAnswer(block)).map(asText),
  ];
};

const blocksOf = ({ bytes }: HistoryMessage): WireBlock[] =>
  (JSON.parse(bytes.toString()) as { content: WireBlock[] }).content;

const callsIn = (blocks: readonly WireBlock[]): readonly string[] =>
  blocks.flatMap(({ type, id }) => (type === 'tool_use' ? [String(id)] : []));

const isResult = ({ type }: WireBlock): boolean => type === 'tool_result';

const asText = (block: WireBlock): WireBlock =>
  isResult(block)
    ? { type: 'text', text: `[Result of a call that was lost:]\n${resultText(block.content)}` }
    : block;

const resultText = (content: unknown): string => {
  if (typeof content === 'string') return content;
  const blocks = Array.isArray(content) ? (content as WireBlock[]) : [];
  return blocks.flatMap((block) => (block.type === 'text' ? [String(block.text)] : [])).join('\n');
};
