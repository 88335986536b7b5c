/** The one door of every host: a run put together and its session opened, to be closed as one. */

import type { EndReason } from '../../actors/hooks/session-hooks.js';
import { type LeadSession, openSession } from '../../actors/session/session.js';
import { tellOutages } from '../../actors/session/store-outages.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { sweepOrphans } from '../../host/process/ownership/orphans.js';
import type { SessionStore } from '../../protocol/session/store.js';
import type { InitFacts } from '../api/messages/stream-json.js';
import { swarmControl } from '../control/swarm-control.js';
import { VERSION } from '../version.js';
import { type AssemblyOptions, openAndAssemble, type SessionAssembly } from './assemble-session.js';
import { shownTools } from './tool-names.js';

export interface HostSession {
  readonly session: LeadSession;
  /** Where it is kept, for those who look at it meanwhile. */
  readonly store: SessionStore;
  readonly settings: LoadedSettings;
  /** What a host tells about the run before it begins. */
  readonly facts: InitFacts;
  /** Sentences that a person should see before anything runs. */
  readonly notices: readonly string[];
  /** Gives the session and its helpers back. Never rejects, and may be called again. */
  close(reason?: EndReason): Promise<void>;
}

/** Throws a UsageError for what cannot be used as it is; then nothing is left open. */
export const openHostSession = async (request: AssemblyOptions): Promise<HostSession> => {
  const bench = await openAndAssemble(request);
  const { settings, notices, toolNames, agentNames, options, inbox, release } = bench;
  const { store } = options;
  // Nobody listens to a session that is not open yet.
  const forget = tellOutages(store, request.machine.notify);
  const session = await openSession(options)
    .catch(async (error: unknown) => {
      release();
      await store.close();
      throw error;
    })
    .finally(forget);
  // The prompt of a former session is what it was: it may show other tools than there are now.
  const shown = options.choice.kind === 'new' ? toolNames : shownTools(session.head.tools);
  sweepLater(session);
  const desk = inbox.openDesk(session, swarmControl(session));
  let closing: Promise<void> | undefined;
  const close = async (reason?: EndReason) => {
    await desk?.close();
    // A disk that failed has been reported as the reason of the stop.
    await session.close(reason).catch(() => undefined);
    release();
    await store.close();
  };
  return {
    session,
    settings,
    store,
    facts: {
      tools: shown,
      agents: agentNames,
      permissionMode: settings.mode.value,
      version: VERSION,
    },
    notices: [...notices, ...toolNotices(shown, toolNames, request), ...session.damage],
    close(reason) {
      closing ??= close(reason);
      return closing;
    },
  };
};

/** What a run would begin with; nothing runs, and only its store is still open. Throws as `openRun` does. */
export const dryRun = async (request: AssemblyOptions): Promise<SessionAssembly> => {
  const bench = await openAndAssemble(request);
  bench.release();
  return bench;
};

const toolNotices = (
  shown: readonly string[],
  usable: readonly string[],
  { tools = [] }: AssemblyOptions,
): readonly string[] => {
  const late = tools.map(({ name }) => name).filter((name) => !shown.includes(name));
  const lost = shown.filter((name) => !usable.includes(name));
  return [
    ...(late.length === 0
      ? []
      : [`A session keeps its tools, so it is not shown: ${late.join(', ')}.`]),
    ...(lost.length === 0
      ? []
      : [`The session began with tools that are not here: ${lost.join(', ')}.`]),
  ];
};

let isSwept = false;

/** Children of owners that died are ended once in a process, when its first request is on its way. */
const sweepLater = (session: LeadSession): void => {
  if (isSwept) return;
  const stop = session.listen(({ type }) => {
    if (type !== 'request.started') return;
    stop();
    if (isSwept) return;
    isSwept = true;
    void sweepOrphans().catch(() => undefined);
  });
};
