/** Finds and shows a background command, for TaskOutput and TaskStop. */
import {
  type ShellJobHandle,
  type ShellJobOutput,
  shellJobStatusText,
} from '../../protocol/tools/shell-jobs.js';
import { type ToolContext, ToolFailure, type ToolOutcome } from '../../protocol/tools/tool.js';
import { backgroundAgentIds } from '../agents/background-agent.js';
import { truncateLine, truncateMiddle } from '../text/truncate-text.js';

const INLINE_CHARACTERS = 30_000;

/** Throws ToolFailure with the known task ids, including agents, if no command has the id. */
export const findTask = (id: string, { jobs, jobReadTo, agents }: ToolContext): ShellJobHandle => {
  const job = jobs.find(id);
  if (job !== undefined) return job;
  const ids = [...jobs.list().map((view) => view.id), ...backgroundAgentIds(agents)];
  const others = ids.length === 0 ? '' : ` The ids are: ${ids.join(', ')}.`;
  if (jobReadTo(id) !== undefined) {
    throw new ToolFailure(
      `${id} no longer exists: background commands end with the process that started them, and old results are deleted. Start it again if you need it.${others}`,
    );
  }
  const name = truncateLine(id, 100);
  throw new ToolFailure(
    ids.length === 0
      ? `There is no background task "${name}": nothing has been started in the background here.`
      : `There is no background task "${name}".${others}`,
  );
};

/** Returns the status of a command and its output since the agent's last read. */
export const showTask = (job: ShellJobHandle, { jobReadTo }: ToolContext): ToolOutcome => {
  const output = job.read(jobReadTo(job.id) ?? 0);
  const { status } = job;
  return {
    content: `${job.id} ${shellJobStatusText(status)}: ${truncateLine(job.command, 500)}\n\n${textOf(output)}`,
    notes: [{ type: 'job.read', job: job.id, upTo: output.upTo }],
    facts: {
      task: job.id,
      status: status.kind,
      characters: output.text.length,
      ...(output.dropped > 0 && { dropped: output.dropped }),
      ...(status.kind === 'exited' && { exitCode: status.exitCode }),
    },
  };
};

const textOf = (output: ShellJobOutput): string => {
  if (output.text === '' && output.dropped === 0) return '(no new output)';
  const where = locationText(output);
  const gap =
    output.dropped === 0
      ? ''
      : `[… ${output.dropped} characters before this are no longer in memory; ${where} …]\n\n`;
  const room = INLINE_CHARACTERS - gap.length;
  if (output.text.length <= room) return gap + output.text;
  const marker = `\n\n[… ${output.text.length} characters are new, the middle is left out here; ${where} …]\n\n`;
  return gap + truncateMiddle(output.text, marker, room);
};

const locationText = ({ artifact, artifactProblem }: ShellJobOutput): string =>
  artifactProblem === undefined
    ? `all of it is in ${artifact}, which Read can open`
    : `see ${artifact}, but ${artifactProblem}`;
