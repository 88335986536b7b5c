/** `skein worker`: runs background agents from the queue until it is stopped. */
import { hostname } from 'node:os';
import { outageText } from '../../../actors/session/store-outages.js';
import { UsageError } from '../../../protocol/skein-error.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { type AgentNews, openWorker, type WorkerNews } from '../../../sdk/worker/worker.js';
import { logLine } from '../../../terminal/output/log-line.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { formatNumber, plural } from '../../../terminal/text/format-number.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { ExitCode } from '../../session/exit-code.js';
import { v8Flags } from '../../session/v8-flags.js';

export interface WorkerFlags extends StoreFlags {
  readonly concurrency?: string;
  readonly rate?: string;
  readonly json?: boolean;
}

const DEFAULT_CONCURRENCY = 20;
const MAX_NUMBER = 10_000;

export const workerCommand = async (flags: WorkerFlags, host: TerminalHost): Promise<number> => {
  const concurrency = numberOf(flags.concurrency, '--concurrency') ?? DEFAULT_CONCURRENCY;
  const perMinute = numberOf(flags.rate, '--rate');
  v8Flags.tuneForSwarm();
  let isStopped = false;
  let isOpen = false;
  let isConnecting = false;
  let stop: () => void = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  // Listen before the first job arrives, so that an early Ctrl-C still returns the job.
  const stopListening = host.onInterrupt(() => {
    isStopped = true;
    stop();
    // The worker has no agents yet and would wait until Redis answers, so quit at once.
    if (isConnecting) host.quit(ExitCode.done);
  });
  let name = '';
  const stamp = (): LogStamp => ({
    time: new Date().toISOString(),
    host: hostname(),
    worker: name,
  });
  const onNews = (news: WorkerNews) => {
    isConnecting = !isOpen && news.what === 'waiting';
    host.debug?.('worker', news);
    printNews(news, stamp(), flags, host);
  };
  const worker = await openWorker({
    host,
    flags,
    concurrency,
    onNews,
    onName: (given) => {
      name = given;
    },
    ...(perMinute !== undefined && { rate: { max: perMinute, perMs: 60_000 } }),
  });
  isOpen = true;
  isConnecting = false;
  const capacity = `up to ${formatNumber(concurrency)} agents at once`;
  host.err(
    `${worker.name} takes ${capacity}; Ctrl-C stops it and returns its agents to the queue.\n`,
  );
  if (!isStopped) await stopped;
  if (worker.busy > 0) {
    host.err(`Returning ${formatNumber(worker.busy)} agents to the queue …\n`);
  }
  await worker.close();
  stopListening();
  return ExitCode.done;
};

const numberOf = (text: string | undefined, flag: string): number | undefined => {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= MAX_NUMBER) return number;
  throw new UsageError(
    `${flag} ${plainText(text, 40)} is not a number from 1 to ${formatNumber(MAX_NUMBER)}.`,
  );
};

/** When and where a line was written. */
interface LogStamp {
  readonly time: string;
  readonly host: string;
  /** Empty until the worker has a name. */
  readonly worker: string;
}

const printNews = (
  news: WorkerNews,
  stamp: LogStamp,
  { json }: WorkerFlags,
  host: TerminalHost,
): void => {
  if (json === true) host.out(`${JSON.stringify({ ...stamp, ...news })}\n`);
  const { time, ...source } = stamp;
  const print = (sentence: string) => {
    if (json !== true) host.err(logLine(time, source, sentence));
  };
  if ('agent' in news) print(agentSentence(news));
  else if (news.what === 'put aside') {
    print(`${plainText(news.job, 80)} is put aside: ${plainText(news.why, 300)}`);
    // With --json an outage is also printed on stderr, because it explains why no agent runs.
  } else host.err(logLine(time, source, outageText('why' in news ? news.why : undefined)));
};

const agentSentence = (news: AgentNews): string => {
  const { swarm, agent, what } = news;
  return `${plainText(agent, 80)} of ${plainText(swarm, 80)} is ${NEWS_TEXT[what]}${detailOf(news)}`;
};

const detailOf = (news: AgentNews): string => {
  if (news.what === 'ended') return news.stop === null ? '' : `: ${news.stop}`;
  if (news.what !== 'begun') return `: ${plainText(news.why, 300)}`;
  if (news.attempts === 0) return '';
  return ` again, after ${plural(news.attempts, 'attempt')} that did not finish`;
};

const NEWS_TEXT: Readonly<Record<AgentNews['what'], string>> = {
  begun: 'started',
  ended: 'ended',
  'given back': 'returned to the queue',
  'put aside': 'put aside',
};
