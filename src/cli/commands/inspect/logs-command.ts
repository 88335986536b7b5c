/** `skein logs`: prints the events of a session, one per line, and follows new events. */
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { SessionStore } from '../../../protocol/session/session-store.js';
import type { SwarmEvent } from '../../../protocol/session/swarm-event.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { findSessionOrAgent, type SessionOrAgent } from '../../../sdk/sessions/find-session.js';
import { formatEvent } from '../../../terminal/format/format-event.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plural } from '../../../terminal/text/format-number.js';
import { formatTime } from '../../../terminal/text/format-time.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { ExitCode } from '../../session/exit-code.js';
import { unreadableNotices } from '../../session/unreadable-notices.js';
import { withSessionStore } from '../../session/with-session-store.js';

export interface LogsFlags extends StoreFlags {
  readonly follow?: boolean;
  readonly json?: boolean;
  readonly limit?: number;
}

/** Maximum number of printed events. With `--json` there is no limit unless `--limit` is set. */
const DEFAULT_LIMIT = 200;
const POLL_INTERVAL_MS = 200;

export const logsCommand = (
  query: string | undefined,
  flags: LogsFlags,
  host: TerminalHost,
): Promise<number> =>
  withSessionStore(host, flags, (store) => showEvents(store, query, flags, host), {
    isLongRunning: flags.follow === true,
  });

const showEvents = async (
  store: SessionStore,
  query: string | undefined,
  flags: LogsFlags,
  host: TerminalHost,
): Promise<number> => {
  const directory = resolve(host.cwd, flags.cwd ?? '');
  const target = await findSessionOrAgent(store, query, directory, unreadableNotices(host));
  const names = new Map<string, string>();
  const line = (event: SwarmEvent) => host.out(`${lineOf(event, target, flags, names)}\n`);
  let isOver = false;
  const isSelected = (event: SwarmEvent) => {
    recordName(event, names);
    if (target.agent === undefined) return true;
    if (event.agent === target.agent) isOver = event.type === 'agent.stopped';
    return event.agent === target.agent;
  };
  const output = { isSelected, line, host, isOver: () => isOver };
  if (flags.follow !== true) await showStored(store, target.session.id, flags, output);
  else {
    // Listen before the first line is printed, so that an early Ctrl-C ends the command.
    const stopped = new AbortController();
    const stop = host.onInterrupt(() => stopped.abort());
    const lastSeq = await showStored(store, target.session.id, flags, output);
    await follow(store, target.session.id, lastSeq, output, stopped.signal).finally(stop);
  }
  return ExitCode.done;
};

interface Output {
  readonly isSelected: (event: SwarmEvent) => boolean;
  readonly line: (event: SwarmEvent) => void;
  readonly host: TerminalHost;
  /** True if the requested agent has ended. */
  readonly isOver: () => boolean;
}

/** Prints past events and keeps only those to be printed in memory. Resolves with the newest sequence number. */
const showStored = async (
  store: SessionStore,
  id: string,
  { limit, json }: LogsFlags,
  { isSelected, line, host }: Output,
): Promise<number> => {
  const maxEvents = limit ?? (json === true ? Number.POSITIVE_INFINITY : DEFAULT_LIMIT);
  let newest = 0;
  let left = 0;
  let kept: SwarmEvent[] = [];
  for await (const event of store.events(id)) {
    newest = Math.max(newest, event.seq);
    if (!isSelected(event)) continue;
    if (maxEvents === Number.POSITIVE_INFINITY) line(event);
    else kept.push(event);
    // Drop old events in batches, so that the cost per event stays constant.
    if (kept.length <= maxEvents * 2 + 100) continue;
    left += kept.length - maxEvents;
    kept = maxEvents === 0 ? [] : kept.slice(-maxEvents);
  }
  const shown = maxEvents === 0 ? [] : kept.slice(-maxEvents);
  left += kept.length - shown.length;
  if (left > 0 && json !== true && limit === undefined) {
    host.err(`${plural(left, 'earlier event')} not shown; --limit shows more.\n`);
  }
  for (const event of shown) line(event);
  return newest;
};

/** Prints new events until the agent has ended, the session has no owner, the output closes, or Ctrl-C. */
const follow = async (
  store: SessionStore,
  id: string,
  lastSeq: number,
  { isSelected, line, host, isOver }: Output,
  stopped: AbortSignal,
): Promise<void> => {
  const watch = store.watch(id);
  let newest = lastSeq;
  const show = (event: SwarmEvent) => {
    if (event.seq <= newest) return;
    newest = event.seq;
    if (isSelected(event)) line(event);
  };
  while (!stopped.aborted && !host.isOutputClosed()) {
    // Check the owner before reading, so that its last events are not missed.
    const isHeld = (await store.holder(id)) !== undefined;
    for (let events = await watch.next(); events.length > 0; events = await watch.next()) {
      for (const event of events) show(event);
    }
    if (!isHeld || isOver()) break;
    await pause(POLL_INTERVAL_MS, undefined, { signal: stopped }).catch(() => undefined);
  }
  // The last records of a killed owner may be missing in the index, but not in the journals.
  if (!stopped.aborted) for await (const event of store.events(id)) show(event);
};

const lineOf = (
  event: SwarmEvent,
  { session, agent }: SessionOrAgent,
  { json }: LogsFlags,
  names: ReadonlyMap<string, string>,
): string => {
  if (json === true) return JSON.stringify(event);
  const isLead = event.agent === session.lead || agent !== undefined;
  const id = plainText(event.agent, 64);
  const agentLabel = isLead ? '' : `[${names.get(event.agent) ?? id}]  `;
  return `${formatTime(event.ts)}  ${agentLabel}${formatEvent(event)}`;
};

/** Records the display name of a spawned agent: its name or type, and the beginning of its id. */
const recordName = ({ type, agent, origin }: SwarmEvent, names: Map<string, string>): void => {
  if (type !== 'agent.spawned' || typeof origin !== 'object' || origin === null) return;
  const { name, type: kind } = origin as Readonly<Record<string, unknown>>;
  const called = typeof name === 'string' ? name : typeof kind === 'string' ? kind : 'fork';
  names.set(agent, plainText(`${called} ${agent.slice(0, 8)}`, 64));
};
