/** Redis checks: the configured server or a server on the PATH, and the swarms stored there. */
import { UsageError } from '../../../protocol/skein-error.js';
import { chooseStore, type StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import type { SwarmSurvey, SwarmUsage } from '../../../store/redis/sessions/swarm-survey.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { formatBytes, plural } from '../../../terminal/text/format-number.js';
import { formatAgo, formatIsoTime } from '../../../terminal/text/format-time.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { type DoctorCheck, type Finding, probe } from './doctor-check.js';

const NOT_NEEDED = 'No action is needed: without Redis, sessions are saved in files.';

/** Maximum time for Redis to answer, in milliseconds. */
const ANSWER_LIMIT_MS = 3_000;

/** Returns checks of the configured Redis, or of `redis-server` on the PATH if none is configured. */
export const redisChecks = (flags: StoreFlags, host: TerminalHost): readonly DoctorCheck[] => {
  const url = urlOf(flags, host);
  return url === undefined ? [checkServer] : [checkAnswer(url), checkSwarms(url)];
};

/** Returns the URL of the configured Redis. Ignores broken settings, which `checkSettings` reports. */
const urlOf = (flags: StoreFlags, host: TerminalHost): string | undefined => {
  try {
    const choice = chooseStore(host, flags);
    return choice.kind === 'redis' ? choice.url : undefined;
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
};

const NO_EVICTION = 'noeviction';

const checkServer: DoctorCheck = {
  name: 'redis',
  async run(host, signal) {
    const server = await probe(['redis-server', '--version'], host, signal);
    if (server.kind === 'ran') return { status: 'ok', found: plainText(server.output, 80) };
    return { status: 'note', found: 'no server on the PATH, none configured', fix: NOT_NEEDED };
  },
};

const checkAnswer = (url: string): DoctorCheck => ({
  name: 'redis',
  async run() {
    const { connectRedis } = await import('../../../store/redis/connection/redis-connections.js');
    try {
      const redis = await connectRedis(url, ANSWER_LIMIT_MS);
      try {
        return answerFinding(
          plainText(redis.shown, 80),
          String(await redis.call('INFO', 'memory')),
        );
      } finally {
        await redis.close();
      }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      const fix = 'Fix the problem, or save sessions in files with --store embedded.';
      return { status: 'fail', found: error.message, fix };
    }
  },
});

/** Warns about a Redis that evicts keys when its memory is full, because eviction loses sessions. */
const answerFinding = (shown: string, memory: string): Finding => {
  const found = `${shown} answers`;
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? NO_EVICTION;
  if (policy === NO_EVICTION) return { status: 'ok', found };
  return {
    status: 'warn',
    found: `${found}, but evicts keys when its memory is full (${plainText(policy, 40)})`,
    fix: `Evicted keys of a swarm are lost: set maxmemory-policy to ${NO_EVICTION}.`,
  };
};

const checkSwarms = (url: string): DoctorCheck => ({
  name: 'swarms',
  async run(_, signal) {
    const { connectRedis } = await import('../../../store/redis/connection/redis-connections.js');
    const { surveySwarms: surveyRedis } = await import(
      '../../../store/redis/sessions/swarm-survey.js'
    );
    const { BullQueue } = await import('../../../store/redis/jobs/bull-queue.js');
    try {
      const redis = await connectRedis(url, ANSWER_LIMIT_MS);
      const queue = new BullQueue(redis);
      try {
        return swarmsFinding(await surveyRedis(redis, queue, signal), Date.now());
      } finally {
        await queue.close();
        await redis.close();
      }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      return { status: 'note', found: 'not checked, because Redis cannot be used' };
    }
  },
});

const swarmsFinding = (survey: SwarmSurvey, now: number): Finding => {
  const { swarms, shared, isComplete } = survey;
  const items = swarms.map((swarm) => ({
    line: lineOf(swarm, now),
    value: {
      ...swarm,
      changedAt: swarm.changedAt === null ? null : formatIsoTime(swarm.changedAt),
    },
  }));
  const total = swarms.reduce((sum, swarm) => sum + swarm.bytes, 0);
  const rest = `${formatBytes(shared.bytes)} in ${plural(shared.keys, 'shared key')}`;
  const partial = isComplete ? '' : ' (not all keys were counted, because there are very many)';
  const found = `${plural(swarms.length, 'swarm')} in Redis, ${formatBytes(total)}, and ${rest}${partial}`;
  const isLasting = swarms.some(({ lasting }) => lasting > 0);
  if (isLasting) {
    const fix = 'Some keys never expire: skein sessions prune removes old swarms.';
    return { status: 'warn', found, fix, items };
  }
  const isLeft = swarms.some((swarm) => !isLive(swarm) && isOpen(swarm));
  const fix = isLeft
    ? 'skein resume resumes a swarm that is not running; skein sessions prune removes old swarms.'
    : 'Swarms expire by themselves; skein sessions prune removes old swarms earlier.';
  return { status: 'ok', found, ...(swarms.length > 0 && { fix, items }) };
};

const isLive = ({ hasLead, worked }: SwarmUsage): boolean => hasLead || worked > 0;

/** True if jobs, letters or questions of the swarm still wait. */
const isOpen = ({ waitingJobs, unreadLetters, openQuestions }: SwarmUsage): boolean =>
  waitingJobs + unreadLetters + openQuestions > 0;

const lineOf = (swarm: SwarmUsage, now: number): string => {
  const { changedAt, hasLead, worked, keys } = swarm;
  const live = [
    ...(hasLead ? ['its lead runs'] : []),
    ...(worked > 0 ? [`${plural(worked, 'agent')} on workers`] : []),
  ];
  const parts = [
    `${plural(keys, 'key')}, ${formatBytes(swarm.bytes)}`,
    changedAt === null ? 'not listed' : `changed ${formatAgo(changedAt, now)}`,
    live.length > 0 ? live.join(' and ') : 'not running',
    ...countText(swarm.waitingJobs, 'waiting job'),
    ...countText(swarm.unreadLetters, 'unread letter'),
    ...countText(swarm.deadLetters, 'dead letter'),
    ...countText(swarm.openQuestions, 'open question'),
    ...(swarm.lasting > 0 ? [`${plural(swarm.lasting, 'key')} without an expiry`] : []),
  ];
  return `${plainText(swarm.swarm, 80)}: ${parts.join(', ')}`;
};

const countText = (count: number, noun: string): readonly string[] =>
  count === 0 ? [] : [plural(count, noun)];
