/** `skein ps`: prints the swarms of this machine as trees of agents with their current activity. */
import { isAlive } from '../../../protocol/session/leases.js';
import type { SessionMeta, SessionStore } from '../../../protocol/session/session-store.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { findSession } from '../../../sdk/sessions/find-session.js';
import { chartStyle } from '../../../terminal/charts/chart-style.js';
import { swarmText } from '../../../terminal/output/swarm-text.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { formatIsoTime } from '../../../terminal/text/format-time.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { withCachedJobs } from '../../../views/swarm/cached-jobs.js';
import { isLiveOrQueued, newestFirst } from '../../../views/swarm/live-sessions.js';
import {
  type AgentView,
  type SwarmView,
  swarmView,
  swarmViews,
} from '../../../views/swarm/swarm-view.js';
import { ExitCode } from '../../session/exit-code.js';
import { unreadableNotices } from '../../session/unreadable-notices.js';
import { withSessionStore } from '../../session/with-session-store.js';

export interface PsFlags extends StoreFlags {
  readonly all?: boolean;
  readonly json?: boolean;
}

/** Maximum number of ended sessions that `--all` adds. */
const MAX_EARLIER = 10;
/** Maximum width of the tree, wider than the maximum for text. */
const MAX_COLUMNS = 240;

export const psCommand = (
  query: string | undefined,
  flags: PsFlags,
  host: TerminalHost,
): Promise<number> =>
  withSessionStore(host, flags, (store) => showSwarms(store, query, flags, host));

const showSwarms = async (
  store: SessionStore,
  query: string | undefined,
  flags: PsFlags,
  host: TerminalHost,
): Promise<number> => {
  const sessions =
    query === undefined
      ? await runningOrRecent(store, flags.all === true)
      : [await findSession(store, query, host.cwd)];
  const unreadable: { id: string; reason: string }[] = [];
  const swarms =
    query === undefined
      ? await swarmViews(store, sessions, (id, reason) => unreadable.push({ id, reason }))
      : await Promise.all(sessions.map((session) => swarmView(store, session)));
  if (flags.json === true) {
    host.out(`${JSON.stringify({ swarms: swarms.map(swarmJson), unreadable }, null, 2)}\n`);
    return ExitCode.done;
  }
  const { width, unicode } = chartStyle(host);
  const columns = Math.max(width, Math.min(MAX_COLUMNS, host.stdout.columns ?? 0));
  const layout = { width: columns, unicode, now: Date.now() };
  host.out(swarms.map((swarm) => `${swarmText(swarm, layout)}\n`).join('\n'));
  const notice = unreadableNotices(host);
  for (const { id, reason } of unreadable) notice(id, reason);
  if (sessions.length === 0) {
    const more = flags.all === true ? '' : '; `skein ps --all` shows ended sessions';
    host.err(`No swarm is running${more}.\n`);
  }
  return ExitCode.done;
};

const runningOrRecent = async (
  store: SessionStore,
  isAll: boolean,
): Promise<readonly SessionMeta[]> => {
  const running: SessionMeta[] = [];
  const ended: SessionMeta[] = [];
  const source = withCachedJobs(store);
  for (const session of newestFirst(await store.list())) {
    if (await isLiveOrQueued(source, session.id)) running.push(session);
    else if (isAll && ended.length < MAX_EARLIER) ended.push(session);
  }
  return [...running, ...ended];
};

/** Returns a swarm as JSON. The keys are a contract. */
const swarmJson = ({ session, holder, workers, agents }: SwarmView) => ({
  session: session.id,
  isRunning: isAlive(holder),
  leaseEndsInMs: holder?.leaseEndsInMs ?? null,
  pid: holder?.pid ?? null,
  host: holder?.host ?? null,
  workers: workers ?? null,
  cwd: session.cwd,
  title: plainText(session.title, 1_000),
  lead: session.lead,
  agents: agents.map(agentJson),
});

const agentJson = ({
  since,
  lastActiveAt,
  endedAt,
  lostAt: _lostAt,
  calls,
  questions,
  wait,
  ...rest
}: AgentView) => ({
  ...rest,
  calls: calls.map(({ since: at, ...call }) => ({ ...call, startedAt: formatIsoTime(at) })),
  questions: questions.map(({ since: at, ...question }) => ({
    ...question,
    askedAt: formatIsoTime(at),
  })),
  wait: wait === null ? null : { ...wait, since: formatIsoTime(wait.since) },
  startedAt: formatIsoTime(since),
  lastActiveAt: formatIsoTime(lastActiveAt),
  endedAt: endedAt === null ? null : formatIsoTime(endedAt),
});
