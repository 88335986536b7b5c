/** `skein worker`: takes background agents from the queue until somebody ends it. */
import { outageText } from '../../../actors/session/store-outages.js';
import { UsageError } from '../../../protocol/errors.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { type AgentNews, openWorker, type WorkerNews } from '../../../sdk/worker/worker.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { count } from '../../../terminal/text/format-numbers.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { EXIT } from '../../run/exit-code.js';
import { makeRoomForMany } from '../../run/v8-flags.js';

export interface WorkerFlags extends StoreFlags {
  readonly concurrency?: string;
  readonly rate?: string;
  readonly json?: boolean;
}

const DEFAULT_CONCURRENCY = 20;
const MOST_CONCURRENCY = 10_000;

export const runWorker = async (flags: WorkerFlags, machine: TerminalHost): Promise<number> => {
  const concurrency = numberOf(flags.concurrency, '--concurrency') ?? DEFAULT_CONCURRENCY;
  const perMinute = numberOf(flags.rate, '--rate');
  makeRoomForMany();
  let isEnding = false;
  let isOpen = false;
  let isKeptOut = false;
  let end: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  // Before the first job, or one that comes at once could not be ended in good order.
  const forget = machine.onInterrupt(() => {
    isEnding = true;
    end();
    // It has nothing yet, and would wait for as long as Redis does not let it begin.
    if (isKeptOut) machine.quit(EXIT.done);
  });
  const said = (news: WorkerNews) => {
    isKeptOut = !isOpen && news.what === 'waiting';
    tell(news, flags, machine);
  };
  const worker = await openWorker({
    machine,
    flags,
    concurrency,
    said,
    ...(perMinute !== undefined && { rate: { most: perMinute, perMs: 60_000 } }),
  });
  isOpen = true;
  isKeptOut = false;
  const many = `up to ${count(concurrency)} agents at once`;
  machine.err(`${worker.name} takes ${many}; Ctrl-C ends it and gives back what it has.\n`);
  if (!isEnding) await ended;
  if (worker.busy > 0) machine.err(`Giving back ${count(worker.busy)} agents …\n`);
  await worker.close();
  forget();
  return EXIT.done;
};

const numberOf = (text: string | undefined, flag: string): number | undefined => {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= MOST_CONCURRENCY) return number;
  throw new UsageError(
    `${flag} ${plainText(text, 40)} is no number from 1 to ${count(MOST_CONCURRENCY)}.`,
  );
};

const tell = (news: WorkerNews, { json }: WorkerFlags, machine: TerminalHost): void => {
  if (json === true) machine.out(`${JSON.stringify(news)}\n`);
  if ('agent' in news) {
    if (json !== true) tellOfAgent(news, machine);
  } else if (news.what === 'put aside') {
    const line = `${plainText(news.job, 80)} is put aside: ${plainText(news.why, 300)}\n`;
    if (json !== true) machine.err(line);
    // People who read the errors of a program should know why nothing happens.
  } else machine.notify(outageText('why' in news ? news.why : undefined));
};

const tellOfAgent = (news: AgentNews, machine: TerminalHost): void => {
  const { swarm, agent, what } = news;
  const more =
    what === 'given back' || what === 'put aside'
      ? `: ${plainText(news.why, 300)}`
      : what === 'begun' && news.attempts > 0
        ? ` once more, after ${count(news.attempts)} that did not end it`
        : '';
  machine.err(`${plainText(agent, 80)} of ${plainText(swarm, 80)} is ${what}${more}\n`);
};
