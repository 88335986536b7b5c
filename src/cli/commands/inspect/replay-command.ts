/** `skein replay`: plays the log of a swarm back on the swarm screen. */

import type { SessionMeta, SessionStore } from '../../../protocol/session/session-store.js';
import { UsageError } from '../../../protocol/skein-error.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { findSession } from '../../../sdk/sessions/find-session.js';
import { isCapableTerminal, isForScreenReader } from '../../../terminal/terminal.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { MAX_SPEED, MIN_SPEED } from '../../../ui/replay/replay-clock.js';
import { ReplaySource } from '../../../ui/replay/replay-source.js';
import { type ReplayLog, readReplayLog } from '../../../views/replay/replay-log.js';
import { ExitCode } from '../../session/exit-code.js';
import { withSessionStore } from '../../session/with-session-store.js';
import { logsCommand } from './logs-command.js';
import { parseMoment, type ReplayMoment, timeOfMoment } from './replay-moment.js';

export interface ReplayFlags extends StoreFlags {
  readonly speed?: string;
  readonly from?: string;
  readonly realTime?: boolean;
  readonly json?: boolean;
  readonly screenReader?: boolean;
}

export const replayCommand = async (
  query: string | undefined,
  flags: ReplayFlags,
  host: TerminalHost,
): Promise<number> => {
  const speed = parseSpeed(flags.speed);
  const from = flags.from === undefined ? undefined : parseMoment(flags.from);
  const isSpoken = flags.screenReader === true || isForScreenReader(host);
  if (flags.json === true || isSpoken || !isCapableTerminal(host)) {
    const session = await withSessionStore(host, flags, (store) =>
      findNamedSession(store, query, host),
    );
    return logsCommand(session.id, { ...flags, limit: Number.POSITIVE_INFINITY }, host);
  }
  return withSessionStore(
    host,
    flags,
    async (store) => {
      const session = await findNamedSession(store, query, host);
      const log = await readWithNotice(store, session, host);
      const isRealTime = flags.realTime === true;
      return play(store, log, { speed, isRealTime, from }, host);
    },
    { isLongRunning: true },
  );
};

interface PlayOptions {
  readonly speed: number;
  readonly isRealTime: boolean;
  readonly from: ReplayMoment | undefined;
}

const play = async (
  store: SessionStore,
  log: ReplayLog,
  { speed, isRealTime, from }: PlayOptions,
  host: TerminalHost,
): Promise<number> => {
  const { showReplay } = await import('../../../ui/replay/show-replay.js');
  const source = new ReplaySource(store, log, { speed, isRealTime });
  if (from?.kind === 'share') source.clock.seekShare(from.share);
  else if (from !== undefined) source.clock.seekTime(timeOfMoment(from, log.times));
  return (await showReplay(host, source)) === 'left' ? ExitCode.done : ExitCode.interrupted;
};

const findNamedSession = (
  store: SessionStore,
  query: string | undefined,
  { cwd }: TerminalHost,
): Promise<SessionMeta> => findSession(store, query, cwd);

/** Time after which a notice says that the log is still being read, in milliseconds. */
const NOTICE_DELAY_MS = 500;

const readWithNotice = async (
  store: SessionStore,
  session: SessionMeta,
  host: TerminalHost,
): Promise<ReplayLog> => {
  const timer = setTimeout(
    () => host.err(`Reading the log of ${session.id}, which is long.\n`),
    NOTICE_DELAY_MS,
  );
  try {
    const log = await readReplayLog(store, session);
    if (log.length > 0) return log;
    throw new UsageError(`Session ${session.id} has no events yet.`);
  } finally {
    clearTimeout(timer);
  }
};

const parseSpeed = (text = '1'): number => {
  const speed = Number(text.trim().replace(/[x×]$/, '') || Number.NaN);
  if (speed >= MIN_SPEED && speed <= MAX_SPEED) return speed;
  throw new UsageError(
    `"${text.slice(0, 40)}" is not a speed: give a number from ${MIN_SPEED} to ${MAX_SPEED}, as in --speed 10.`,
  );
};
