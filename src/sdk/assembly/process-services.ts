/** Opens what a session needs of this process: shells, hooks, search, web and the model. */
import type { LeadServices } from '../../actors/session/lead-session.js';
import type { SwarmSetup } from '../../actors/tree/swarm-context.js';
import { commandHookRunner } from '../../host/process/command-hook-runner.js';
import { hostShell } from '../../host/process/host-shell.js';
import { watchdogLink } from '../../host/process/ownership/watchdog-link.js';
import { hostSearch } from '../../host/search/host-search.js';
import { cachedWeb } from '../../host/web/cached-web.js';
import { webClient } from '../../host/web/web-client.js';
import { anthropicModel } from '../../model/anthropic-model.js';
import { systemClock } from '../../protocol/clock.js';
import type { WorktreeLocation } from '../../protocol/tools/worktrees.js';
import type { AssemblyOptions } from './assemble-session.js';
import { collectHooks } from './collect-hooks.js';
import { openSandbox } from './open-sandbox.js';
import type { OpenedStore } from './options/open-store.js';
import { providerOf } from './options/provider.js';
import { runGovernor } from './options/run-governor.js';
import type { SecretRedaction } from './secret-redaction.js';
import { workspaceRoots } from './session-checkpoints.js';
import type { SessionConfig } from './session-config.js';
import { VERSION } from './version.js';

export interface ProcessServices {
  readonly lead: Pick<
    LeadServices,
    'shell' | 'search' | 'model' | 'web' | 'governor' | 'fallbackModel'
  >;
  readonly shellIn: SwarmSetup['shellIn'];
  /** Runs the hooks of agent definitions. */
  readonly runHook: SwarmSetup['runHook'];
  readonly hooks: ReturnType<typeof collectHooks>;
  /** Sentences to show to the person before the first run. */
  readonly notices: readonly string[];
  /** Ends the child processes of the session and removes its temporary folder. */
  release(): void;
}

/** Rejects with UsageError if a sandbox is required but not available. */
export const openProcessServices = async (
  request: AssemblyOptions,
  store: OpenedStore,
  config: SessionConfig,
  redaction: Pick<SecretRedaction, 'shell'>,
): Promise<ProcessServices> => {
  const { host } = request;
  const { settings, env, environment, cwd } = config;
  const { skein } = settings;
  const provider = request.provider ?? providerOf(env);
  const watchdog = watchdogLink({ command: host.watchdog, marker: store.owner });
  const roots = workspaceRoots(cwd, settings);
  const sandbox = await openSandbox(settings, host, { roots, environment, watchdog });
  const { shellIn } = sandbox;
  const hookShell = hostShell({ environment, watchdog });
  const hooks = collectHooks(settings, request.hooks, config.namedAgent?.hooks ?? [], hookShell);
  const web = webClient({
    env,
    clock: systemClock,
    userAgent: `skein/${VERSION}`,
    allowPrivateAddresses: skein.allowPrivateAddresses,
  });
  return {
    lead: {
      shell: redaction.shell(sandbox.shell),
      search: hostSearch(environment, host.env),
      model: anthropicModel({
        ...provider,
        env,
        clock: systemClock,
        streamIdleTimeoutMs: skein.streamIdleTimeoutMs,
      }),
      web: cachedWeb(web, systemClock),
      governor: runGovernor(store, skein.maxConcurrentRequests, provider),
      fallbackModel: settings.fallbackModel && config.modelNamed(settings.fallbackModel.value),
    },
    shellIn: shellIn && ((worktree: WorktreeLocation) => redaction.shell(shellIn(worktree))),
    runHook: commandHookRunner(hookShell, settings.workspace.root),
    hooks,
    notices: [...hooks.warnings, ...sandbox.notices],
    release: sandbox.release,
  };
};
