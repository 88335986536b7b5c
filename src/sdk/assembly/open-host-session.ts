/** Opens a session for a host (print mode, REPL, SDK), and closes everything that it opened. */
import type { EndReason } from '../../actors/hooks/session-hooks.js';
import { beginSession } from '../../actors/session/begin-session.js';
import type { LeadSession } from '../../actors/session/lead-session.js';
import { openSession } from '../../actors/session/open-session.js';
import { onOutageChange } from '../../actors/session/store-outages.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { sweepOrphans } from '../../host/process/ownership/sweep-orphans.js';
import { CleanupStack } from '../../lib/async/cleanup-stack.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import type { InitFacts } from '../api/messages/init-message.js';
import { swarmControl } from '../control/swarm-control.js';
import { type AssemblyOptions, openAndAssemble, type SessionAssembly } from './assemble-session.js';
import type { DebugLog } from './options/host-environment.js';
import { shownTools } from './prompt/context-provider.js';
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
  /** Closes the session, its child processes and its store. Idempotent. */
  close(reason?: EndReason): Promise<void>;
}

/** Rejects with UsageError if options or settings cannot be used; then everything is closed again. */
export const openHostSession = async (request: AssemblyOptions): Promise<HostSession> => {
  const cleanup = new CleanupStack();
  try {
    return await openWith(request, cleanup);
  } catch (error) {
    await cleanup.run();
    throw error;
  }
};

const openWith = async (request: AssemblyOptions, cleanup: CleanupStack): Promise<HostSession> => {
  const assembly = await openAndAssemble(request);
  const { settings, notices, toolNames, hiddenTools, agentNames, options, answerChannels } =
    assembly;
  const { store } = options;
  cleanup.defer(() => store.close());
  cleanup.defer(assembly.release);
  // The session reports outages itself once it is open; until then they go to the host.
  const forget = onOutageChange(store, request.host.notify);
  const session = await openLead(assembly, cleanup).finally(forget);
  let endReason: EndReason | undefined;
  cleanup.defer(ignoringFailure(() => session.close(endReason)));
  // A resumed session keeps its prompt, which may show other tools than this process has.
  const shown = options.choice.kind === 'new' ? toolNames : shownTools(session.head.tools);
  sweepOrphansLater(session);
  const { debug } = request.host;
  if (debug !== undefined) cleanup.defer(logSession(session, debug));
  const server = answerChannels.serveCommands(session, swarmControl(session));
  cleanup.defer(() => server?.close());
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
    notices: [
      ...notices,
      ...toolNotices(shown, toolNames, hiddenTools, request),
      ...session.damage,
    ],
    close(reason) {
      endReason ??= reason;
      return cleanup.run();
    },
  };
};

/** Writes the feed to the debug log, without the raw events of answers. Returns a function that stops. */
const logSession = (session: LeadSession, debug: DebugLog): (() => void) => {
  debug('session', { session: session.id, model: session.model });
  return session.listen((item) => {
    if (item.type !== 'stream.event') debug('feed', { session: session.id, item });
  });
};

const openLead = async (
  { options, services }: SessionAssembly,
  cleanup: CleanupStack,
): Promise<LeadSession> => {
  const begun = await beginSession(options);
  cleanup.defer(ignoringFailure(() => begun.session.close()));
  return openSession(options, begun, await services(begun));
};

/** A storage failure was already reported as the stop reason, or as the reason why the session did not open. */
const ignoringFailure = (close: () => Promise<void>) => () => close().catch(() => undefined);

/** Assembles a session without opening it. The caller closes its store. Rejects as `openHostSession` does. */
export const dryRun = async (request: AssemblyOptions): Promise<SessionAssembly> => {
  const assembly = await openAndAssemble(request);
  assembly.release();
  return assembly;
};

const toolNotices = (
  shown: readonly string[],
  usable: readonly string[],
  hidden: ReadonlySet<string>,
  { tools = [] }: AssemblyOptions,
): readonly string[] => {
  const names = tools.map(({ name }) => name).filter((name) => !hidden.has(name));
  const late = names.filter((name) => !shown.includes(name));
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
const SWEEP_DELAY_MS = 10;

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
    // The listeners of the event run before the request leaves.
    setTimeout(() => void sweepOrphans().catch(() => undefined), SWEEP_DELAY_MS);
  });
};
