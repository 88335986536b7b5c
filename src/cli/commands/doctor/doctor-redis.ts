/** The checks of Redis: a server on the PATH, or the one that is meant, and what swarms have left there. */
import { UsageError } from '../../../protocol/errors.js';
import { chooseStore, type StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import type { RedisSurvey, SwarmLeft } from '../../../store/redis/sessions/swarm-survey.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { bytes, plural } from '../../../terminal/text/format-numbers.js';
import { ago, isoTime } from '../../../terminal/text/format-time.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { type Check, type Finding, probe } from './doctor-check.js';

const NOT_NEEDED = 'Nothing has to be done: without one, sessions are kept in files.';

/** How long a Redis may take to answer. */
const ANSWER_LIMIT_MS = 3_000;

/** Of the store that is meant; of none where it is not Redis. */
export const redisChecks = (flags: StoreFlags, machine: TerminalHost): readonly Check[] => {
  const url = urlOf(flags, machine);
  return url === undefined ? [checkServer] : [checkAnswer(url), checkSwarms(url)];
};

/** Settings that cannot be read have a check of their own. */
const urlOf = (flags: StoreFlags, machine: TerminalHost): string | undefined => {
  try {
    const choice = chooseStore(machine, flags);
    return choice.kind === 'redis' ? choice.url : undefined;
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
};

const NO_EVICTION = 'noeviction';

const checkServer: Check = {
  name: 'redis',
  async run(machine, signal) {
    const server = await probe(['redis-server', '--version'], machine, signal);
    if (server.kind === 'ran') return { status: 'ok', found: plainText(server.output, 80) };
    return { status: 'note', found: 'no server on the PATH, none configured', fix: NOT_NEEDED };
  },
};

const checkAnswer = (url: string): Check => ({
  name: 'redis',
  async run() {
    const { connectRedis } = await import('../../../store/redis/connection/redis-connections.js');
    try {
      const broker = await connectRedis(url, ANSWER_LIMIT_MS);
      try {
        return answerFinding(
          plainText(broker.shown, 80),
          String(await broker.call('INFO', 'memory')),
        );
      } finally {
        await broker.close();
      }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      const fix = 'Mend what is named, or keep sessions in files: --store embedded.';
      return { status: 'fail', found: error.message, fix };
    }
  },
});

/** One that is full and throws keys away of its own accord loses work; one that refuses more of it does not. */
const answerFinding = (shown: string, memory: string): Finding => {
  const found = `${shown} answers`;
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? NO_EVICTION;
  if (policy === NO_EVICTION) return { status: 'ok', found };
  return {
    status: 'warn',
    found: `${found}, but throws keys away when its memory is full (${plainText(policy, 40)})`,
    fix: `What it throws away of a swarm is lost: set maxmemory-policy to ${NO_EVICTION}.`,
  };
};

const checkSwarms = (url: string): Check => ({
  name: 'swarms',
  async run(_, signal) {
    const { connectRedis } = await import('../../../store/redis/connection/redis-connections.js');
    const { surveyRedis } = await import('../../../store/redis/sessions/swarm-survey.js');
    const { BullQueue } = await import('../../../store/redis/jobs/bull-queue.js');
    try {
      const broker = await connectRedis(url, ANSWER_LIMIT_MS);
      const queue = new BullQueue(broker);
      try {
        return swarmsFinding(await surveyRedis(broker, queue, signal), Date.now());
      } finally {
        await queue.close();
        await broker.close();
      }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      return { status: 'note', found: 'not looked at, because Redis cannot be used' };
    }
  },
});

export const swarmsFinding = (survey: RedisSurvey, now: number): Finding => {
  const { swarms, shared, isComplete } = survey;
  const items = swarms.map((swarm) => ({
    line: lineOf(swarm, now),
    value: { ...swarm, changedAt: swarm.changedAt === null ? null : isoTime(swarm.changedAt) },
  }));
  const total = swarms.reduce((sum, swarm) => sum + swarm.bytes, 0);
  const rest = `${bytes(shared.bytes)} in ${plural(shared.keys, 'key')} that all share`;
  const some = isComplete ? '' : ' of those that were looked at, for there are very many keys';
  const found = `${plural(swarms.length, 'swarm')} in Redis, ${bytes(total)}, and ${rest}${some}`;
  const isLasting = swarms.some(({ lasting }) => lasting > 0);
  if (isLasting) {
    const fix = 'Some keys have no expiry and would stay: skein sessions prune removes old swarms.';
    return { status: 'warn', found, fix, items };
  }
  const isLeft = swarms.some((swarm) => !isLive(swarm) && isOpen(swarm));
  const fix = isLeft
    ? 'skein resume goes on with a swarm that nobody runs; skein sessions prune removes old ones.'
    : 'Swarms go by themselves in time; skein sessions prune removes old ones earlier.';
  return { status: 'ok', found, ...(swarms.length > 0 && { fix, items }) };
};

const isLive = ({ hasLead, worked }: SwarmLeft): boolean => hasLead || worked > 0;

/** Somebody still waits for something. */
const isOpen = ({ waitingJobs, unreadLetters, openQuestions }: SwarmLeft): boolean =>
  waitingJobs + unreadLetters + openQuestions > 0;

const lineOf = (swarm: SwarmLeft, now: number): string => {
  const { changedAt, hasLead, worked, keys } = swarm;
  const live = [
    ...(hasLead ? ['its lead runs'] : []),
    ...(worked > 0 ? [`${plural(worked, 'agent')} on workers`] : []),
  ];
  const parts = [
    `${plural(keys, 'key')}, ${bytes(swarm.bytes)}`,
    changedAt === null ? 'in no list' : `changed ${ago(changedAt, now)}`,
    live.length > 0 ? live.join(' and ') : 'nobody runs it',
    ...counted(swarm.waitingJobs, 'waiting job'),
    ...counted(swarm.unreadLetters, 'unread letter'),
    ...counted(swarm.deadLetters, 'dead letter'),
    ...counted(swarm.openQuestions, 'open question'),
    ...(swarm.lasting > 0 ? [`${plural(swarm.lasting, 'key')} without an expiry`] : []),
  ];
  return `${plainText(swarm.swarm, 80)}: ${parts.join(', ')}`;
};

const counted = (count: number, what: string): readonly string[] =>
  count === 0 ? [] : [plural(count, what)];
