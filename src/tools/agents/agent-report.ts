/** What an agent reads about one that worked for it. The words of the other are data, and bounded. */
import { type AgentTag, type ChildReport, outcomeOf } from '../../protocol/agent/swarm.js';
import { onOneLine } from '../search/search-report.js';
import { shortLine, withoutMiddle } from '../truncation.js';
import { withoutOurTags } from '../untrusted-text.js';
import { worktreeText } from './worktree-text.js';

export const REPORT_CHARACTERS = 30_000;
const MOST_FILES = 20;
const LONGEST_PATH = 300;
const LONGEST_LABEL = 200;
const LONGEST_DETAIL = 2_000;

/** The result of the call that asked for the agent. */
export const reportText = (report: ChildReport): string => {
  const { text, characters } = report;
  const failure = failureOf(report);
  const isSilent = text.trim() === '';
  const said = isSilent
    ? 'It said nothing.'
    : `<agent-report>\n${withoutOurTags(bounded(text.trim(), characters))}\n</agent-report>`;
  const home = report.worktree === undefined ? [] : [worktreeText(report.worktree)];
  if (failure === undefined) return [headOf(report), ...home, said].join('\n');
  const partial = isSilent ? said : `Its partial result:\n${said}`;
  return [headOf(report), JSON.stringify(failure), ...home, partial].join('\n');
};

/** What it says, ids and figures aside: agents that say the same have nothing new to tell. */
export const gistOf = ({ stop, text, changedFiles, worktree }: ChildReport): string =>
  JSON.stringify([
    outcomeOf(stop),
    stop.reason,
    stop.detail,
    text,
    changedFiles,
    ...(worktree === undefined ? [] : [worktree.outcome.kind]),
  ]);

/** The letter that wakes whoever started an agent in the background. */
export const notificationText = (report: ChildReport): string =>
  `[${newsOf(report)}]\n${reportText(report)}`;

const newsOf = ({ agent, stop }: ChildReport): string => {
  if (agent.kind !== 'teammate') return 'An agent that you started in the background has ended.';
  const name = line(agent.name ?? agent.id, LONGEST_LABEL);
  return outcomeOf(stop) === 'completed'
    ? `Your teammate ${name} has done what it was told, and rests.`
    : `Your teammate ${name} has not come to the end of its work, and does no more by itself.`;
};

/** The same for one that a process left behind and the next cannot take up. */
export const lossText = (agent: AgentTag, why: string): string =>
  `[An agent that you started in the background cannot go on.]\nAgent ${agentLabel(agent)}: ${line(why, LONGEST_DETAIL)}`;

export interface AgentFailure {
  readonly status: 'failed' | 'stopped';
  readonly reason: string;
  readonly detail: string | null;
}

/** Undefined when it came to the end of its work. */
export const failureOf = ({ stop }: ChildReport): AgentFailure | undefined => {
  const status = outcomeOf(stop);
  if (status === 'completed') return undefined;
  const detail = stop.detail === null ? null : line(stop.detail, LONGEST_DETAIL);
  return { status, reason: stop.reason, detail };
};

/** `explorer 3f2a "the parser"`, as far as it has them. */
export const agentLabel = ({ id, type, name, description }: AgentTag): string =>
  [
    ...[type ?? 'fork', ...(name === undefined ? [] : [name])].map((it) => line(it, LONGEST_LABEL)),
    `${id} ${JSON.stringify(line(description, LONGEST_LABEL))}`,
  ].join(' ');

const headOf = (report: ChildReport): string => {
  const { agent, stop, turns, tokens, cost, changedFiles } = report;
  const money = cost === null ? 'cost unknown' : `$${cost.toFixed(4)}`;
  const figures = `${turns} ${turns === 1 ? 'turn' : 'turns'}, ${tokens} tokens, ${money}`;
  const shown = changedFiles.slice(0, MOST_FILES).map((path) => line(path, LONGEST_PATH));
  const more = changedFiles.length - shown.length;
  const files = [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
  const changed = files === '' ? '' : ` Changed: ${files}`;
  return `Agent ${agentLabel(agent)} ${outcomeOf(stop)}: ${figures}.${changed}`;
};

const line = (text: string, length: number): string =>
  shortLine(withoutOurTags(onOneLine(text)), length);

const bounded = (text: string, characters = text.length): string => {
  if (text.length <= REPORT_CHARACTERS) return text;
  const marker = `\n\n[… the report has ${characters} characters; its middle is left out …]\n\n`;
  return withoutMiddle(text, marker, REPORT_CHARACTERS);
};
