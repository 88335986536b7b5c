/** `skein replay`: what happened in a swarm, played back on the swarm screen from its log alone. */
import { UsageError } from '../../../protocol/errors.js';
import type { SessionMeta, SessionStore } from '../../../protocol/session/store.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { sessionNamed } from '../../../sdk/sessions/find-session.js';
import { isCapableTerminal, isForScreenReader } from '../../../terminal/terminal.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { FASTEST, SLOWEST } from '../../../ui/replay/replay-clock.js';
import { ReplaySource } from '../../../ui/replay/replay-source.js';
import { type ReplayLog, readLog } from '../../../views/replay/replay-log.js';
import { EXIT } from '../../run/exit-code.js';
import { showLogs } from './logs-command.js';
import { type Moment, parseMoment, timeOfMoment } from './replay-moment.js';
import { withSessions } from './with-session-store.js';

export interface ReplayFlags extends StoreFlags {
  readonly speed?: string;
  readonly from?: string;
  readonly realTime?: boolean;
  readonly json?: boolean;
  readonly screenReader?: boolean;
}

export const replay = async (
  wanted: string | undefined,
  flags: ReplayFlags,
  machine: TerminalHost,
): Promise<number> => {
  const speed = parseSpeed(flags.speed);
  const from = flags.from === undefined ? undefined : parseMoment(flags.from);
  const isHeard = flags.screenReader === true || isForScreenReader(machine);
  if (flags.json === true || isHeard || !isCapableTerminal(machine)) {
    const session = await withSessions(machine, flags, (store) => named(store, wanted, machine));
    return showLogs(session.id, { ...flags, limit: Number.POSITIVE_INFINITY }, machine);
  }
  return withSessions(
    machine,
    flags,
    async (store) => {
      const session = await named(store, wanted, machine);
      const log = await read(store, session, machine);
      const isRealTime = flags.realTime === true;
      return play(store, log, { speed, isRealTime, from }, machine);
    },
    { isPatient: true },
  );
};

interface PlayOptions {
  readonly speed: number;
  readonly isRealTime: boolean;
  readonly from: Moment | undefined;
}

const play = async (
  store: SessionStore,
  log: ReplayLog,
  { speed, isRealTime, from }: PlayOptions,
  machine: TerminalHost,
): Promise<number> => {
  const { showReplay } = await import('../../../ui/replay/replay-screen.js');
  const source = new ReplaySource(store, log, { speed, isRealTime });
  if (from?.kind === 'share') source.tape.seekShare(from.share);
  else if (from !== undefined) source.tape.seekTime(timeOfMoment(from, log.times));
  return (await showReplay(machine, source)) === 'left' ? EXIT.done : EXIT.interrupted;
};

const named = (
  store: SessionStore,
  wanted: string | undefined,
  { cwd }: TerminalHost,
): Promise<SessionMeta> => sessionNamed(store, wanted, cwd);

/** A log that is read this long is a long one, and whoever waits is told. */
const PATIENCE_MS = 500;

const read = async (
  store: SessionStore,
  session: SessionMeta,
  machine: TerminalHost,
): Promise<ReplayLog> => {
  const told = setTimeout(
    () => machine.err(`Reading the log of ${session.id}, which is long.\n`),
    PATIENCE_MS,
  );
  try {
    const log = await readLog(store, session);
    if (log.length > 0) return log;
    throw new UsageError(`Nothing has happened in session ${session.id} yet.`);
  } finally {
    clearTimeout(told);
  }
};

const parseSpeed = (text = '1'): number => {
  const speed = Number(text.trim().replace(/[x×]$/, '') || Number.NaN);
  if (speed >= SLOWEST && speed <= FASTEST) return speed;
  throw new UsageError(
    `"${text.slice(0, 40)}" is not a speed: give a number from ${SLOWEST} to ${FASTEST}, as in --speed 10.`,
  );
};
