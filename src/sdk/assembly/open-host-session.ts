/** Opens a session for a host (print mode, REPL, SDK), and closes everything that it opened. */
import type { EndReason } from '../../actors/hooks/session-hooks.js';
import { type LeadSession, openSession } from '../../actors/session/open-session.js';
import { onOutageChange } from '../../actors/session/store-outages.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { sweepOrphans } from '../../host/process/ownership/sweep-orphans.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import type { InitFacts } from '../api/messages/init-message.js';
import { swarmControl } from '../control/swarm-control.js';
import { type AssemblyOptions, openAndAssemble, type SessionAssembly } from './assemble-session.js';
import { shownTools } from './run-tools.js';
import { VERSION } from './version.js';

export interface HostSession {
  readonly session: LeadSession;
  /** Store of the session, for views that read it while it runs. */
  readonly store: SessionStore;
  readonly settings: LoadedSettings;
  /** Facts for the first message of a run. */
  readonly facts: InitFacts;
  /** Sentences to show to the person before the first run. */
  readonly notices: readonly string[];
  /** Closes the session, its child processes and its store. Never rejects. Idempotent. */
  close(reason?: EndReason): Promise<void>;
}

/** Rejects with UsageError if options or settings cannot be used; then everything is closed again. */
export const openHostSession = async (request: AssemblyOptions): Promise<HostSession> => {
  const assembly = await openAndAssemble(request);
  const { settings, notices, toolNames, agentNames, options, answerChannels, release } = assembly;
  const { store } = options;
  // The session reports outages itself once it is open; until then they go to the host.
  const forget = onOutageChange(store, request.machine.notify);
  const session = await openSession(options)
    .catch(async (error: unknown) => {
      release();
      await store.close();
      throw error;
    })
    .finally(forget);
  // A resumed session keeps its prompt, which may show other tools than this process has.
  const shown = options.choice.kind === 'new' ? toolNames : shownTools(session.head.tools);
  sweepOrphansLater(session);
  const server = answerChannels.serveCommands(session, swarmControl(session));
  let closing: Promise<void> | undefined;
  const close = async (reason?: EndReason) => {
    await server?.close();
    // A storage failure was already reported as the stop reason.
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

/** Assembles a session without opening it. The caller closes its store. Rejects as `openHostSession` does. */
export const dryRun = async (request: AssemblyOptions): Promise<SessionAssembly> => {
  const assembly = await openAndAssemble(request);
  assembly.release();
  return assembly;
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
      : [`A session keeps its tools, so the model is not shown: ${late.join(', ')}.`]),
    ...(lost.length === 0
      ? []
      : [`The session was started with tools that do not exist here: ${lost.join(', ')}.`]),
  ];
};

let isSwept = false;

/**
 * Ends child processes that dead owners left behind, once per process. Waits for the first model request,
 * because the sweep must not delay it.
 */
const sweepOrphansLater = (session: LeadSession): void => {
  if (isSwept) return;
  const stop = session.listen(({ type }) => {
    if (type !== 'request.started') return;
    stop();
    if (isSwept) return;
    isSwept = true;
    void sweepOrphans().catch(() => undefined);
  });
};
