/** Table of an agent's background shell jobs: starts, numbers, finds and stops them. */
import type { Clock } from '../../protocol/clock.js';
import type { Shell } from '../../protocol/tools/shell.js';
import {
  MAX_ENDED_SHELL_JOBS,
  MAX_RUNNING_SHELL_JOBS,
  ShellJobRefusal,
  type ShellJobs,
  type ShellJobView,
} from '../../protocol/tools/shell-jobs.js';
import { ShellJob } from './shell-job.js';

export interface ShellJobTableOptions {
  readonly shell: Shell;
  readonly clock: Clock;
  /** Number of jobs that the session started before. Their ids are not reused. */
  readonly startedBefore: number;
  /** Called when a job ends by itself while no caller waits for it. */
  readonly onEnd: (job: ShellJobView) => void;
}

export interface ShellJobTable extends ShellJobs {
  /** Stops all jobs and refuses new jobs. Resolves to the jobs that were still running. */
  close(): Promise<readonly ShellJobView[]>;
}

export const shellJobTable = ({
  shell,
  clock,
  startedBefore,
  onEnd,
}: ShellJobTableOptions): ShellJobTable => {
  const jobs = new Map<string, ShellJob>();
  const starting = new Set<ShellJob>();
  let count = startedBefore;
  let closing: Promise<readonly ShellJobView[]> | undefined;

  const running = () => [...jobs.values()].filter(({ status }) => status.kind === 'running');

  const register = (job: ShellJob) => {
    count += 1;
    job.id = `bash_${count}`;
    jobs.set(job.id, job);
    void job.ended.then(() => {
      forgetOldest(jobs);
      if (job.status.kind !== 'stopped' && !job.isWatched) onEnd(job);
    });
  };

  const endAll = async () => {
    const open = running();
    await Promise.all([...starting, ...open].map((job) => job.stop()));
    return open;
  };

  return {
    async start(request) {
      refuse(closing !== undefined, running().length + starting.size);
      const job = new ShellJob(request, shell, clock);
      starting.add(job);
      const onAbort = () => void job.stop();
      request.signal.addEventListener('abort', onAbort, { once: true });
      if (request.signal.aborted) onAbort();
      try {
        await job.started;
      } finally {
        starting.delete(job);
        request.signal.removeEventListener('abort', onAbort);
      }
      register(job);
      return job;
    },
    find: (id) => jobs.get(id),
    list: () => [...jobs.values()],
    close() {
      closing ??= endAll();
      return closing;
    },
  };
};

const refuse = (isClosed: boolean, running: number): void => {
  if (isClosed) throw new ShellJobRefusal('The session is ending, so nothing more can be started.');
  if (running < MAX_RUNNING_SHELL_JOBS) return;
  throw new ShellJobRefusal(
    `${running} commands already run in the background, which is the limit. Stop one with TaskStop, or wait until one ends.`,
  );
};

const forgetOldest = (jobs: Map<string, ShellJob>): void => {
  const ended = [...jobs.values()].filter(({ status }) => status.kind !== 'running');
  const [oldest] = ended;
  if (oldest !== undefined && ended.length > MAX_ENDED_SHELL_JOBS) jobs.delete(oldest.id);
};
