/** The jobs of a lead: it is told when one ends by itself, and none outlives the session. */
import { type JobTable, jobTable } from '../../host/process/shell-job-table.js';
import { StorageError } from '../../protocol/errors.js';
import { rawText } from '../../protocol/model/wire.js';
import { JOB_SENDER, type JobView, jobStatusText } from '../../protocol/tools/shell-jobs.js';
import type { AgentDeps } from '../agent/agent.js';

type JobDeps = Pick<AgentDeps, 'shell' | 'clock' | 'ids' | 'notebook' | 'feed'>;

export interface SessionJobs {
  readonly table: JobTable;
  /** Ends them all, and says which were still running. May be called again. */
  end(): Promise<void>;
}

export const sessionJobs = ({ shell, clock, ids, notebook, feed }: JobDeps): SessionJobs => {
  /** It waits with the letters for the next message, and wakes nobody. */
  const onEnd = (job: JobView) => {
    feed.emit({ type: 'notice', text: `${headline(job)}: ${shortened(job.command)}` });
    const raw = `[${rawText(noticeOf(job))}]`;
    try {
      notebook.record({ type: 'letter.received', letter: ids('letter'), from: JOB_SENDER, raw });
    } catch (error) {
      // The agent meets the same disk with its own next record.
      if (!(error instanceof StorageError)) throw error;
    }
  };
  const table = jobTable({ shell, clock, onEnd, before: notebook.history.jobs.size });
  let ending: Promise<void> | undefined;
  const end = async () => {
    const ended = await table.close();
    if (ended.length === 0) return;
    const names = ended.map(({ id, command }) => `${id} (${shortened(command)})`);
    const text = `Ended with the session what still ran in the background: ${names.join(', ')}.`;
    feed.emit({ type: 'notice', text });
  };
  return {
    table,
    end() {
      ending ??= end();
      return ending;
    },
  };
};

const noticeOf = (job: JobView): string =>
  `[${headline(job)}. It ran: ${shortened(job.command)}. TaskOutput with task_id "${job.id}" shows what it printed.]`;

const headline = ({ id, status }: JobView): string =>
  `The background command ${id} ${jobStatusText(status)}`;

const LONGEST_COMMAND = 120;

const shortened = (command: string): string => {
  const line = command.trim().replaceAll(/\s+/g, ' ');
  return line.length <= LONGEST_COMMAND
    ? line
    : `${line.slice(0, LONGEST_COMMAND)}…`.toWellFormed();
};
