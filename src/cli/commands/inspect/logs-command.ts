/** `skein logs`: what happened in a session, one line per event, also while it happens. */

import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { SwarmEvent } from '../../../protocol/session/events.js';
import type { SessionStore } from '../../../protocol/session/store.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { type Addressed, agentOrSession } from '../../../sdk/sessions/find-session.js';
import { eventWords } from '../../../terminal/format/format-event.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plural } from '../../../terminal/text/format-numbers.js';
import { clockTime } from '../../../terminal/text/format-time.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { EXIT } from '../../run/exit-code.js';
import { leftOut } from './unreadable-sessions.js';
import { withSessions } from './with-session-store.js';

export interface LogsFlags extends StoreFlags {
  readonly follow?: boolean;
  readonly json?: boolean;
  readonly limit?: number;
}

/** For people; programs get everything unless they set a limit. */
const LIMIT = 200;
const LOOK_EVERY_MS = 200;

export const showLogs = (
  wanted: string | undefined,
  flags: LogsFlags,
  machine: TerminalHost,
): Promise<number> =>
  withSessions(machine, flags, (store) => showEvents(store, wanted, flags, machine), {
    isPatient: flags.follow === true,
  });

const showEvents = async (
  store: SessionStore,
  wanted: string | undefined,
  flags: LogsFlags,
  machine: TerminalHost,
): Promise<number> => {
  const here = resolve(machine.cwd, flags.cwd ?? '');
  const target = await agentOrSession(store, wanted, here, leftOut(machine));
  const names = new Map<string, string>();
  const line = (event: SwarmEvent) => machine.out(`${lineOf(event, target, flags, names)}\n`);
  let isOver = false;
  const isWanted = (event: SwarmEvent) => {
    noteName(event, names);
    if (target.agent === undefined) return true;
    if (event.agent === target.agent) isOver = event.type === 'agent.stopped';
    return event.agent === target.agent;
  };
  const output = { isWanted, line, machine, isOver: () => isOver };
  if (flags.follow !== true) await showPast(store, target.session.id, flags, output);
  else {
    // Before the first line: who reads it may want to stop at once.
    const stopped = new AbortController();
    const stop = machine.onInterrupt(() => stopped.abort());
    const seen = await showPast(store, target.session.id, flags, output);
    await follow(store, target.session.id, seen, output, stopped.signal).finally(stop);
  }
  return EXIT.done;
};

interface Output {
  readonly isWanted: (event: SwarmEvent) => boolean;
  readonly line: (event: SwarmEvent) => void;
  readonly machine: TerminalHost;
  /** The agent that was asked for has ended. */
  readonly isOver: () => boolean;
}

/** Keeps no more than it will print. Returns the number of the newest event. */
const showPast = async (
  store: SessionStore,
  id: string,
  { limit, json }: LogsFlags,
  { isWanted, line, machine }: Output,
): Promise<number> => {
  const most = limit ?? (json === true ? Number.POSITIVE_INFINITY : LIMIT);
  let newest = 0;
  let left = 0;
  let kept: SwarmEvent[] = [];
  for await (const event of store.events(id)) {
    newest = Math.max(newest, event.seq);
    if (!isWanted(event)) continue;
    if (most === Number.POSITIVE_INFINITY) line(event);
    else kept.push(event);
    // Halved now and then, so that the cost of dropping does not grow with the length of the log.
    if (kept.length <= most * 2 + 100) continue;
    left += kept.length - most;
    kept = most === 0 ? [] : kept.slice(-most);
  }
  const shown = most === 0 ? [] : kept.slice(-most);
  left += kept.length - shown.length;
  if (left > 0 && json !== true && limit === undefined) {
    machine.err(`${plural(left, 'earlier event')} not shown; --limit shows more.\n`);
  }
  for (const event of shown) line(event);
  return newest;
};

/** Until the agent has ended, the session has no owner any more, the reader is gone, or Ctrl-C. */
const follow = async (
  store: SessionStore,
  id: string,
  seen: number,
  { isWanted, line, machine, isOver }: Output,
  stopped: AbortSignal,
): Promise<void> => {
  const watch = store.watch(id);
  let newest = seen;
  const show = (event: SwarmEvent) => {
    if (event.seq <= newest) return;
    newest = event.seq;
    if (isWanted(event)) line(event);
  };
  while (!stopped.aborted && !machine.isOutputClosed()) {
    // Asked first: what is written before the owner goes must not be missed.
    const isHeld = (await store.holder(id)) !== undefined;
    for (let events = await watch.next(); events.length > 0; events = await watch.next()) {
      for (const event of events) show(event);
    }
    if (!isHeld || isOver()) break;
    await pause(LOOK_EVERY_MS, undefined, { signal: stopped }).catch(() => undefined);
  }
  // An owner that was killed may have left its last facts in the journals alone.
  if (!stopped.aborted) for await (const event of store.events(id)) show(event);
};

const lineOf = (
  event: SwarmEvent,
  { session, agent }: Addressed,
  { json }: LogsFlags,
  names: ReadonlyMap<string, string>,
): string => {
  if (json === true) return JSON.stringify(event);
  const isLead = event.agent === session.lead || agent !== undefined;
  const id = plainText(event.agent, 64);
  const who = isLead ? '' : `[${names.get(event.agent) ?? id}]  `;
  return `${clockTime(event.ts)}  ${who}${eventWords(event)}`;
};

/** Children are called by their name, or by what they are and the beginning of their id. */
const noteName = ({ type, agent, origin }: SwarmEvent, names: Map<string, string>): void => {
  if (type !== 'agent.spawned' || typeof origin !== 'object' || origin === null) return;
  const { name, type: kind } = origin as Readonly<Record<string, unknown>>;
  const called = typeof name === 'string' ? name : typeof kind === 'string' ? kind : 'fork';
  names.set(agent, plainText(`${called} ${agent.slice(0, 8)}`, 64));
};
