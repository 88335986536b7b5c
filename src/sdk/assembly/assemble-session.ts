/** Assembles a session from its config, the services of this process, and the store. */
import { type ModeSwitch, modeSwitch } from '../../actors/permissions/mode-switch.js';
import { signingSurface } from '../../actors/permissions/signing-surface.js';
import type { OpenedLead } from '../../actors/session/lead-runtime.js';
import type { LeadServices, SessionOptions } from '../../actors/session/lead-session.js';
import { onOutageChange } from '../../actors/session/store-outages.js';
import type { SwarmSetup } from '../../actors/tree/swarm-context.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { isFromCommandLine } from '../../config/settings/settings-layers.js';
import { secretValues } from '../../policy/redaction/redact.js';
import { systemClock } from '../../protocol/clock.js';
import { randomIds } from '../../protocol/ids.js';
import { capabilitiesOf } from '../../protocol/model/providers.js';
import type { Surface } from '../../protocol/permission/permission-question.js';
import type { Tool } from '../../protocol/tools/tool.js';
import { toolbox } from '../../tools/toolbox.js';
import { leadConfigPublisher } from '../lead-config/lead-config.js';
import { workspaceConfig } from '../lead-config/workspace-remote.js';
import { type AnswerChannels, answerChannels } from './answer-channels.js';
import { checkMode } from './check-mode.js';
import type { HookFunctions } from './collect-hooks.js';
import { showUnless, swarmSetup } from './collect-tools.js';
import { type LeadServicesOptions, leadServices } from './lead-services.js';
import type { HostEnvironment } from './options/host-environment.js';
import { type OpenedStore, openStore } from './options/open-store.js';
import type { Provider } from './options/provider.js';
import { answerFormat, requestSettings } from './options/request-settings.js';
import type { RunOptions } from './options/run-options.js';
import { openProcessServices } from './process-services.js';
import {
  type ContextProviderRequest,
  makeContextProvider,
  PROVIDER,
} from './prompt/make-context-provider.js';
import { NO_REDACTION, secretRedaction } from './secret-redaction.js';
import { sessionConfig } from './session-config.js';
import { VERSION } from './version.js';

export interface SessionAssembly {
  readonly settings: LoadedSettings;
  readonly toolNames: readonly string[];
  /** Names of the tools that rules forbid outright. */
  readonly hiddenTools: ReadonlySet<string>;
  /** Agent types that Task may start. */
  readonly agentNames: readonly string[];
  /** Sentences to show to the person before the first run. */
  readonly notices: readonly string[];
  readonly options: SessionOptions;
  /** Makes the services of the lead for its opened session. */
  services(lead: OpenedLead): Promise<LeadServices>;
  readonly mode: ModeSwitch;
  readonly answerChannels: AnswerChannels;
  /** Ends the child processes of the session and removes its temporary folder. */
  release(): void;
}

export interface AssemblyOptions {
  readonly host: HostEnvironment;
  readonly flags: RunOptions;
  readonly title: string;
  /** Surfaces that can answer questions, by their names in the journal. */
  readonly surfaces: Readonly<Record<string, Surface>>;
  /** True if the lead waits for the next prompt after a run instead of stopping. */
  readonly staysIdle: boolean;
  readonly wantsStreamEvents: boolean;
  /** Model provider. Default: the provider that the environment variables name. */
  readonly provider?: Provider;
  /** Tools of the host, beside the built-in tools. */
  readonly tools?: readonly Tool[];
  /** Kind of host that starts the session. Default: `cli`. */
  readonly entrypoint?: string;
  /** Hook functions of the host, beside the hooks of settings. */
  readonly hooks?: HookFunctions | undefined;
  /** Only on a worker: the workspace's directory on this machine, and the clones for its agents. */
  readonly worker?: { readonly cwd: string; readonly clones: SwarmSetup['clones'] };
}

/**
 * Opens the store and assembles the session. The caller closes the store (`options.store`). Rejects with
 * UsageError; then the store is closed again.
 */
export const openAndAssemble = async (request: AssemblyOptions): Promise<SessionAssembly> => {
  const { host, flags } = request;
  const store = await openStore(host, flags);
  const forget = onOutageChange(store.sessions, host.notify);
  try {
    return await assembleSession(request, store);
  } catch (error) {
    await store.sessions.close();
    throw error;
  } finally {
    forget();
  }
};

/** Assembles the session on an open store, which stays open. Rejects with UsageError. */
export const assembleSession = async (
  request: AssemblyOptions,
  store: OpenedStore,
): Promise<SessionAssembly> => {
  const { host, flags, worker } = request;
  const format = answerFormat(flags);
  const config = await sessionConfig(request, store);
  const { settings, cwd, environment, isNew, catalog, model, defaultModel } = config;
  const { skein, skeinHome } = settings;
  const redaction = secretRedaction(secretValues(config.env));
  const toolRedaction = skein.redactSecrets ? redaction : NO_REDACTION;
  // The prompt of a resumed session keeps its tools, so a rule that came later only denies their calls.
  const hidden: ReadonlySet<string> = isNew ? config.hiddenTools : new Set();
  const tools = toolbox(config.tools.map((tool) => showUnless(hidden, toolRedaction.tool(tool))));
  const mode = modeSwitch(settings.mode.value, (next) => checkMode(next, host, settings));
  const surfaces = Object.entries(request.surfaces).map(([name, surface]) =>
    signingSurface(name, surface, systemClock),
  );
  const isInteractive = flags.ask === true || surfaces.length > 0;
  const channels = answerChannels({
    host,
    flags,
    skeinHome,
    store: store.sessions,
    surfaces: request.surfaces,
    personKeys: skein.personKeys,
  });
  // Only the lead publishes the workspace to workers.
  const workspace = worker
    ? { config: {}, notices: [] }
    : await workspaceConfig(store, settings, cwd, environment);
  // The last step that can fail, because only the caller can release what it opens.
  const processServices = await openProcessServices(request, store, config, toolRedaction);
  const { hooks } = processServices;
  const prompt: ContextProviderRequest = {
    host,
    flags,
    settings,
    tools,
    agent: config.agent,
    agents: config.customAgents,
    mode,
    environment,
    cwd,
    model: model ?? defaultModel,
    defaultModel,
    isInteractive,
    isOneShot: !request.staysIdle,
    querySource: querySourceOf(request),
    loaded: hooks.loaded,
  };
  const options: SessionOptions = {
    store: store.sessions,
    choice: config.choice,
    owner: store.owner,
    ids: randomIds,
    clock: systemClock,
    // A resumed session keeps its model unless this command names another.
    modelName: isNew || isFromCommandLine(settings.model?.source) ? model : undefined,
    defaultModel,
    fresh: {
      cwd: config.startDirectory,
      version: VERSION,
      entrypoint: request.entrypoint ?? 'cli',
      title: redaction.redact(request.title),
    },
    contextProvider: makeContextProvider(prompt),
    swarm: swarmSetup({
      shellIn: processServices.shellIn,
      runHook: processServices.runHook,
      catalog,
      settings,
      modelNamed: config.modelNamed,
      tools,
      hidden: config.hiddenTools,
      environment,
      clones: worker?.clones,
      contextFor: (definition, agentTools) =>
        makeContextProvider({
          ...prompt,
          agent: { ...definition, proactive: false },
          tools: agentTools,
        }),
    }),
    leadConfig: leadConfigPublisher(store, flags, mode, skeinHome, {
      ...workspace.config,
      asks: isInteractive,
    }),
    hooks: hooks.equipment,
    capabilities: capabilitiesOf(PROVIDER),
    requestSettings: (name) => requestSettings(name, settings, format),
    budget: { usd: skein.maxBudgetUsd ?? null, tokens: skein.maxBudgetTokens ?? null },
    wantsStreamEvents: request.wantsStreamEvents,
  };
  const serviceOptions: LeadServicesOptions = {
    host,
    store,
    settings,
    tools,
    isNew,
    shared: processServices.lead,
    maxTurns: config.maxTurns,
    staysIdle: request.staysIdle,
    mode,
    surfacesOf: (session) => channels.surfaces(session, surfaces),
    answersByHook: hooks.equipment?.setups.some(isAnswering) ?? false,
    // Files in a clone need no checkpoints: the lead's workspace is on another machine.
    keepsCheckpoints: flags.sessionPersistence !== false && worker?.clones?.lacksWorkspace !== true,
    environment,
  };
  return {
    settings,
    notices: [...config.notices, ...processServices.notices, ...workspace.notices],
    toolNames: tools.visible.map(({ name }) => name),
    hiddenTools: config.hiddenTools,
    agentNames: catalog.agents.map(({ name }) => name),
    options,
    services: (opened) => leadServices(serviceOptions, opened),
    mode,
    answerChannels: channels,
    release: processServices.release,
  };
};

const isAnswering = ({ event }: { readonly event: string }) => event === 'PermissionRequest';

/** Returns the kind of run, by which the lifetime of cache entries is chosen. */
const querySourceOf = ({ entrypoint = 'cli', staysIdle }: AssemblyOptions): string => {
  if (entrypoint !== 'cli') return entrypoint;
  return staysIdle ? 'repl' : 'print';
};
