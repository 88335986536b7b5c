/**
 * Background shell commands of an agent. The agent gets a letter when a command ends; all commands
 * stop with the session.
 */
import { type ShellJobTable, shellJobTable } from '../../host/process/shell-job-table.js';
import { rawText } from '../../protocol/model/wire-block.js';
import { StorageError } from '../../protocol/skein-error.js';
import {
  JOB_SENDER,
  type ShellJobView,
  shellJobStatusText,
} from '../../protocol/tools/shell-jobs.js';
import type { AgentDeps } from '../agent/agent.js';

type JobDeps = Pick<AgentDeps, 'shell' | 'clock' | 'ids' | 'journal' | 'feed'>;

export interface BackgroundCommands {
  readonly table: ShellJobTable;
  /**
   * Stops all background commands and emits a notice that lists the commands that were still
   * running. Idempotent.
   */
  end(): Promise<void>;
}

export const backgroundCommands = ({
  shell,
  clock,
  ids,
  journal,
  feed,
}: JobDeps): BackgroundCommands => {
  /** Notifies people, and records a letter for the next user message. The letter wakes no agent. */
  const onEnd = (job: ShellJobView) => {
    feed.emit({ type: 'notice', text: `${headline(job)}: ${shortened(job.command)}` });
    const raw = `[${rawText(noticeOf(job))}]`;
    try {
      journal.record({ type: 'letter.received', letter: ids('letter'), from: JOB_SENDER, raw });
    } catch (error) {
      // The next record of the agent meets the same storage failure.
      if (!(error instanceof StorageError)) throw error;
    }
  };
  const table = shellJobTable({
    shell,
    clock,
    onEnd,
    startedBefore: journal.history.jobReadTo.size,
  });
  let ending: Promise<void> | undefined;
  const end = async () => {
    const ended = await table.close();
    if (ended.length === 0) return;
    const names = ended.map(({ id, command }) => `${id} (${shortened(command)})`);
    const text = `Background commands stopped with the session: ${names.join(', ')}.`;
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

const noticeOf = (job: ShellJobView): string =>
  `[${headline(job)}. It ran: ${shortened(job.command)}. TaskOutput with task_id "${job.id}" shows what it printed.]`;

const headline = ({ id, status }: ShellJobView): string =>
  `The background command ${id} ${shellJobStatusText(status)}`;

const MAX_COMMAND_LENGTH = 120;

const shortened = (command: string): string => {
  const line = command.trim().replaceAll(/\s+/g, ' ');
  return line.length <= MAX_COMMAND_LENGTH
    ? line
    : `${line.slice(0, MAX_COMMAND_LENGTH)}…`.toWellFormed();
};
