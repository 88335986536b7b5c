/** What TaskOutput and TaskStop have in common: finding a command, and telling how it is doing. */
import { type Job, type JobOutput, jobStatusText } from '../../protocol/tools/shell-jobs.js';
import { type ToolContext, ToolFailure, type ToolOutcome } from '../../protocol/tools/tool.js';
import { agentIds } from '../agents/background-agent.js';
import { shortLine, withoutMiddle } from '../truncation.js';

const INLINE_CHARACTERS = 30_000;

/** Throws a ToolFailure that names the tasks there are, agents too. */
export const findTask = (id: string, { jobs, jobReadTo, agents }: ToolContext): Job => {
  const job = jobs.find(id);
  if (job !== undefined) return job;
  const known = [...jobs.list().map((view) => view.id), ...agentIds(agents)];
  const others = known.length === 0 ? '' : ` The ids are: ${known.join(', ')}.`;
  if (jobReadTo(id) !== undefined) {
    throw new ToolFailure(
      `${id} is gone: background commands end with the process that started them, and long after their end they are forgotten. Start it again if you still need it.${others}`,
    );
  }
  const name = shortLine(id, 100);
  throw new ToolFailure(
    known.length === 0
      ? `There is no background task "${name}": nothing has been started in the background here.`
      : `There is no background task "${name}".${others}`,
  );
};

/** How it is doing, and what it has printed since the agent last looked. */
export const showTask = (job: Job, { jobReadTo }: ToolContext): ToolOutcome => {
  const output = job.read(jobReadTo(job.id) ?? 0);
  const { status } = job;
  return {
    content: `${job.id} ${jobStatusText(status)}: ${shortLine(job.command, 500)}\n\n${textOf(output)}`,
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

const textOf = (output: JobOutput): string => {
  if (output.text === '' && output.dropped === 0) return '(nothing new)';
  const where = whereAllIs(output);
  const gap =
    output.dropped === 0
      ? ''
      : `[… ${output.dropped} characters before this are no longer in memory; ${where} …]\n\n`;
  const room = INLINE_CHARACTERS - gap.length;
  if (output.text.length <= room) return gap + output.text;
  const marker = `\n\n[… ${output.text.length} characters are new, the middle is left out here; ${where} …]\n\n`;
  return gap + withoutMiddle(output.text, marker, room);
};

const whereAllIs = ({ artifact, artifactTrouble }: JobOutput): string =>
  artifactTrouble === undefined
    ? `everything is in ${artifact}, which Read can open`
    : `see ${artifact}, but ${artifactTrouble}`;
