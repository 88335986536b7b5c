/** `skein ps`: the swarms of this machine as trees of agents, with what each is doing now. */
import type { SessionMeta, SessionStore } from '../../../protocol/session/store.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { isUnderWay } from '../../../sdk/control/remote-commands.js';
import { newestFirst, sessionNamed } from '../../../sdk/sessions/find-session.js';
import { swarmText } from '../../../terminal/output/swarm-text.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { chartStyle } from '../../../terminal/text/bar-chart.js';
import { isoTime } from '../../../terminal/text/format-time.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { withCachedJobs } from '../../../views/swarm/cached-job-list.js';
import {
  type AgentView,
  type SwarmView,
  viewOfSwarm,
  viewsOfSwarms,
} from '../../../views/swarm/swarm-view.js';
import { EXIT } from '../../run/exit-code.js';
import { leftOut } from '../inspect/unreadable-sessions.js';
import { withSessions } from '../inspect/with-session-store.js';

export interface PsFlags extends StoreFlags {
  readonly all?: boolean;
  readonly json?: boolean;
}

/** How many former ones `--all` adds. */
const MOST_FORMER = 10;
/** A table gains by what a text does not. */
const WIDEST = 240;

export const listSwarms = (
  wanted: string | undefined,
  flags: PsFlags,
  machine: TerminalHost,
): Promise<number> =>
  withSessions(machine, flags, (store) => showSwarms(store, wanted, flags, machine));

const showSwarms = async (
  store: SessionStore,
  wanted: string | undefined,
  flags: PsFlags,
  machine: TerminalHost,
): Promise<number> => {
  const sessions =
    wanted === undefined
      ? await runningOrRecent(store, flags.all === true)
      : [await sessionNamed(store, wanted, machine.cwd)];
  const unreadable: { id: string; reason: string }[] = [];
  const swarms =
    wanted === undefined
      ? await viewsOfSwarms(store, sessions, (id, reason) => unreadable.push({ id, reason }))
      : await Promise.all(sessions.map((session) => viewOfSwarm(store, session)));
  if (flags.json === true) {
    machine.out(`${JSON.stringify({ swarms: swarms.map(forPrograms), unreadable }, null, 2)}\n`);
    return EXIT.done;
  }
  const { width, unicode } = chartStyle(machine);
  const columns = Math.max(width, Math.min(WIDEST, machine.stdout.columns ?? 0));
  const paper = { width: columns, unicode, now: Date.now() };
  machine.out(swarms.map((swarm) => `${swarmText(swarm, paper)}\n`).join('\n'));
  const tell = leftOut(machine);
  for (const { id, reason } of unreadable) tell(id, reason);
  if (sessions.length === 0) {
    const more = flags.all === true ? '' : '; `skein ps --all` shows what ran last';
    machine.err(`Nothing runs on this machine${more}.\n`);
  }
  return EXIT.done;
};

const runningOrRecent = async (
  store: SessionStore,
  isAll: boolean,
): Promise<readonly SessionMeta[]> => {
  const running: SessionMeta[] = [];
  const former: SessionMeta[] = [];
  const source = withCachedJobs(store);
  for (const session of newestFirst(await store.list())) {
    if (await isUnderWay(source, session.id)) running.push(session);
    else if (isAll && former.length < MOST_FORMER) former.push(session);
  }
  return [...running, ...former];
};

/** The keys are a contract: programs read them. */
const forPrograms = ({ session, holder, workers, agents }: SwarmView) => ({
  session: session.id,
  isRunning: holder !== undefined,
  pid: holder?.pid ?? null,
  host: holder?.host ?? null,
  workers: workers ?? null,
  cwd: session.cwd,
  title: plainText(session.title, 1_000),
  lead: session.lead,
  agents: agents.map(agentForPrograms),
});

const agentForPrograms = ({
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
  calls: calls.map(({ since: at, ...call }) => ({ ...call, startedAt: isoTime(at) })),
  questions: questions.map(({ since: at, ...question }) => ({ ...question, askedAt: isoTime(at) })),
  wait: wait === null ? null : { ...wait, since: isoTime(wait.since) },
  startedAt: isoTime(since),
  lastActiveAt: isoTime(lastActiveAt),
  endedAt: endedAt === null ? null : isoTime(endedAt),
});
