/**
 * Report of a child agent as its parent reads it. Text of the child is data, and its length is
 * bounded.
 */
import type { AgentTag } from '../../protocol/agent/agent-tag.js';
import { type ChildReport, outcomeOf } from '../../protocol/agent/child-report.js';
import { truncateMiddle } from '../text/truncate-text.js';
import { untrustedLine, withoutSkeinTags } from '../text/untrusted-text.js';
import { worktreeText } from './worktree-text.js';

export const MAX_REPORT_LENGTH = 30_000;
const MAX_FILES = 20;
const MAX_PATH_LENGTH = 300;
const MAX_LABEL_LENGTH = 200;
const MAX_DETAIL_LENGTH = 2_000;

/** Returns the result of the Task call that started the agent. */
export const agentReport = (report: ChildReport): string => {
  const { text, characters } = report;
  const failure = agentFailure(report);
  const isSilent = text.trim() === '';
  const body = isSilent
    ? 'Its report is empty.'
    : `<agent-report>\n${withoutSkeinTags(bounded(text.trim(), characters))}\n</agent-report>`;
  const worktreeLines = report.worktree === undefined ? [] : [worktreeText(report.worktree)];
  if (failure === undefined) return [headOf(report), ...worktreeLines, body].join('\n');
  const partial = isSilent ? body : `Its partial result:\n${body}`;
  return [headOf(report), JSON.stringify(failure), ...worktreeLines, partial].join('\n');
};

/** Returns the content of a report without ids and figures, to detect repeated reports. */
export const reportGist = ({ stop, text, changedFiles, worktree }: ChildReport): string =>
  JSON.stringify([
    outcomeOf(stop),
    stop.reason,
    stop.detail,
    text,
    changedFiles,
    ...(worktree === undefined ? [] : [worktree.outcome.kind]),
  ]);

/** Returns the letter that wakes the parent of a background agent. */
export const reportNotification = (report: ChildReport): string =>
  `[${headlineOf(report)}]\n${agentReport(report)}`;

const headlineOf = ({ agent, stop }: ChildReport): string => {
  if (agent.kind !== 'teammate') return 'An agent that you started in the background has ended.';
  const name = untrustedLine(agent.name ?? agent.id, MAX_LABEL_LENGTH);
  return outcomeOf(stop) === 'completed'
    ? `Your teammate ${name} has finished its task and is idle.`
    : `Your teammate ${name} did not finish its task and does not continue by itself.`;
};

/** Returns the letter about a background agent that the next process cannot resume. */
export const agentLossText = (agent: AgentTag, why: string): string =>
  `[An agent that you started in the background cannot resume.]\nAgent ${agentLabel(agent)}: ${untrustedLine(why, MAX_DETAIL_LENGTH)}`;

interface AgentFailure {
  readonly status: 'failed' | 'stopped';
  readonly reason: string;
  readonly detail: string | null;
}

/** Returns undefined if the agent completed its task. */
export const agentFailure = ({ stop }: ChildReport): AgentFailure | undefined => {
  const status = outcomeOf(stop);
  if (status === 'completed') return undefined;
  const detail = stop.detail === null ? null : untrustedLine(stop.detail, MAX_DETAIL_LENGTH);
  return { status, reason: stop.reason, detail };
};

/** Returns type, name, id and description: `explorer 3f2a "the parser"`. */
export const agentLabel = ({ id, type, name, description }: AgentTag): string =>
  [
    ...[type ?? 'fork', ...(name === undefined ? [] : [name])].map((label) =>
      untrustedLine(label, MAX_LABEL_LENGTH),
    ),
    `${id} ${JSON.stringify(untrustedLine(description, MAX_LABEL_LENGTH))}`,
  ].join(' ');

const headOf = (report: ChildReport): string => {
  const { agent, stop, turns, tokens, cost, changedFiles } = report;
  const money = cost === null ? 'cost unknown' : `$${cost.toFixed(4)}`;
  const figures = `${turns} ${turns === 1 ? 'turn' : 'turns'}, ${tokens} tokens, ${money}`;
  const shown = changedFiles
    .slice(0, MAX_FILES)
    .map((path) => untrustedLine(path, MAX_PATH_LENGTH));
  const more = changedFiles.length - shown.length;
  const files = [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
  const changed = files === '' ? '' : ` Changed: ${files}`;
  return `Agent ${agentLabel(agent)} ${outcomeOf(stop)}: ${figures}.${changed}`;
};

const bounded = (text: string, characters = text.length): string => {
  if (text.length <= MAX_REPORT_LENGTH) return text;
  const marker = `\n\n[… the report has ${characters} characters; its middle is left out …]\n\n`;
  return truncateMiddle(text, marker, MAX_REPORT_LENGTH);
};
