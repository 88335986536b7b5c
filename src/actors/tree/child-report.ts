/** What came of an agent, from what is on record of it. */

import type { Spending } from '../../context/budget/spending.js';
import type { History } from '../../context/history/history.js';
import { textOf } from '../../context/history/last-answer.js';
import type { Stop } from '../../protocol/agent/agent.js';
import type { AgentTag, ChildReport } from '../../protocol/agent/swarm.js';
import { windowTokens } from '../../protocol/model/usage.js';
import type { WireBlock } from '../../protocol/model/wire.js';
import { withoutMiddle } from '../../tools/truncation.js';

/** More of them is nothing that anybody would read; the whole is in the journal. */
const LONGEST_WORDS = 100_000;

export const reportOf = (
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

/** What it changed in its worktree is told as what that became. */
const changedBy = ({ family: { changedFiles, place } }: History): readonly string[] => {
  const own = place?.path;
  return [...changedFiles].filter((path) => own === undefined || !path.startsWith(`${own}/`));
};

const worktreeOf = ({
  family: { place, settled },
}: History): Pick<ChildReport, 'worktree'> | undefined => {
  if (place === undefined || settled === null) return undefined;
  const { path, branch, top } = place;
  const { outcome, diff } = settled;
  return { worktree: { path, branch, top, outcome, ...(diff !== undefined && { diff }) } };
};

/** Of an agent that was cut off it is what it said last, however long ago; its parent's words are not its own. */
const lastWords = ({ messages, turns, family }: History): string => {
  if (turns === 0) return '';
  const isOwn = family.origin?.inherits === undefined ? messages : messages.slice(-2 * turns);
  for (const message of isOwn.toReversed()) {
    if (message.role !== 'assistant') continue;
    const { content } = JSON.parse(message.bytes.toString()) as { content: WireBlock[] };
    const text = textOf(content);
    if (text.trim() !== '') return text.toWellFormed();
  }
  return '';
};

const bounded = (words: string): Pick<ChildReport, 'text' | 'characters'> =>
  words.length <= LONGEST_WORDS
    ? { text: words }
    : { text: withoutMiddle(words, MIDDLE, LONGEST_WORDS), characters: words.trim().length };

const MIDDLE = '\n\n[… the middle is left out …]\n\n';
