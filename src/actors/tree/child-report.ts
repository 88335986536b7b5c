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

/** Maximum length of the text of a report. The journal has the whole text. */
const MAX_TEXT_LENGTH = 100_000;

export const childReport = (
  agent: AgentTag,
  history: History,
  spending: Spending,
  stop: Stop,
): ChildReport => ({
  agent,
  stop,
  ...bounded(lastText(history)),
  turns: history.turns,
  cost: spending.cost,
  tokens: windowTokens(spending.usage),
  changedFiles: changedOutsideWorktree(history),
  ...(history.lostRecords !== undefined && { lostRecords: history.lostRecords }),
  ...worktreeOf(history),
});

/** Reports changes in a worktree as the result of the merge. */
const changedOutsideWorktree = ({
  relations: { changedFiles, place: worktree },
}: History): readonly string[] => {
  const root = worktree?.path;
  return [...changedFiles].filter((path) => root === undefined || !path.startsWith(`${root}/`));
};

const worktreeOf = ({
  relations: { place: location, settled },
}: History): Pick<ChildReport, 'worktree'> | undefined => {
  if (location === undefined || settled === null) return undefined;
  const { path, branch, top } = location;
  const { outcome, diff } = settled;
  return { worktree: { path, branch, top, outcome, ...(diff !== undefined && { diff }) } };
};

/** Returns the last text of the agent. Text that a fork inherited from its parent does not count. */
const lastText = ({ messages, turns, relations }: History): string => {
  if (turns === 0) return '';
  const ownMessages =
    relations.origin?.inherits === undefined ? messages : messages.slice(-2 * turns);
  for (const message of ownMessages.toReversed()) {
    if (message.role !== 'assistant') continue;
    const { content } = JSON.parse(message.bytes.toString()) as { content: WireBlock[] };
    const text = blocksText(content);
    if (text.trim() !== '') return text.toWellFormed();
  }
  return '';
};

const bounded = (text: string): Pick<ChildReport, 'text' | 'characters'> =>
  text.length <= MAX_TEXT_LENGTH
    ? { text }
    : { text: truncateMiddle(text, MIDDLE, MAX_TEXT_LENGTH), characters: text.trim().length };

const MIDDLE = '\n\n[… the middle is left out …]\n\n';
