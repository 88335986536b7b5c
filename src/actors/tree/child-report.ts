/** Builds the report of a child from its journaled history. */

import type { Spending } from '../../context/budget/spending.js';
import type { History } from '../../context/history/history.js';
import { blocksText } from '../../context/history/last-answer.js';
import type { AgentTag } from '../../protocol/agent/agent-tag.js';
import type { ChildReport } from '../../protocol/agent/child-report.js';
import type { Stop } from '../../protocol/agent/stop.js';
import { windowTokens } from '../../protocol/model/usage.js';
import type { WireBlock } from '../../protocol/model/wire-block.js';
import { truncateMiddle } from '../../tools/text/truncate-text.js';

/** Maximum length of a list in a report. The journal has the whole list. */
const LONGEST_WORDS = 100_000;

export const childReport = (
  agent: AgentTag,
  history: History,
  tree: Spending,
  stop: Stop,
): ChildReport => ({
  agent,
  stop,
  ...bounded(lastWords(history)),
  turns: history.turns,
  cost: tree.cost,
  tokens: windowTokens(tree.usage),
  changedFiles: changedBy(history),
  ...worktreeOf(history),
});

/** Reports changes in a worktree as the result of the merge. */
const changedBy = ({ relations: { changedFiles, place } }: History): readonly string[] => {
  const own = place?.path;
  return [...changedFiles].filter((path) => own === undefined || !path.startsWith(`${own}/`));
};

const worktreeOf = ({
  relations: { place, settled },
}: History): Pick<ChildReport, 'worktree'> | undefined => {
  if (place === undefined || settled === null) return undefined;
  const { path, branch, top } = place;
  const { outcome, diff } = settled;
  return { worktree: { path, branch, top, outcome, ...(diff !== undefined && { diff }) } };
};

/** Returns the last text of the agent. Text that a fork inherited from its parent does not count. */
const lastWords = ({ messages, turns, relations: family }: History): string => {
  if (turns === 0) return '';
  const isOwn = family.origin?.inherits === undefined ? messages : messages.slice(-2 * turns);
  for (const message of isOwn.toReversed()) {
    if (message.role !== 'assistant') continue;
    const { content } = JSON.parse(message.bytes.toString()) as { content: WireBlock[] };
    const text = blocksText(content);
    if (text.trim() !== '') return text.toWellFormed();
  }
  return '';
};

const bounded = (words: string): Pick<ChildReport, 'text' | 'characters'> =>
  words.length <= LONGEST_WORDS
    ? { text: words }
    : { text: truncateMiddle(words, MIDDLE, LONGEST_WORDS), characters: words.trim().length };

const MIDDLE = '\n\n[… the middle is left out …]\n\n';
