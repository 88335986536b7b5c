/** Assembles a session from flags, settings and this machine. Only this file knows all three. */
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { type ModeSwitch, modeSwitch } from '../../actors/permissions/mode-switch.js';
import { signingSurface } from '../../actors/permissions/signing-surface.js';
import type { OpenedLead } from '../../actors/session/lead-runtime.js';
import type { LeadServices, SessionOptions } from '../../actors/session/lead-session.js';
import { onOutageChange } from '../../actors/session/store-outages.js';
import type { SwarmSetup } from '../../actors/tree/swarm-context.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { resolveModel } from '../../config/settings/model-aliases.js';
import { isFromCommandLine } from '../../config/settings/settings-layers.js';
import { commandHookRunner } from '../../host/process/command-hook-runner.js';
import { hostShell } from '../../host/process/host-shell.js';
import { childEnvironment } from '../../host/process/ownership/child-environment.js';
import { watchdogLink } from '../../host/process/ownership/watchdog-link.js';
import { hostSearch } from '../../host/search/host-search.js';
import { cachedWeb } from '../../host/web/cached-web.js';
import { webClient } from '../../host/web/web-client.js';
import { anthropicModel } from '../../model/anthropic-model.js';
import { secretValues } from '../../policy/redaction/redact.js';
import { systemClock } from '../../protocol/clock.js';
import { randomIds } from '../../protocol/ids.js';
import { modelFacts } from '../../protocol/model/model-facts.js';
import { capabilitiesOf } from '../../protocol/model/providers.js';
import type { Surface } from '../../protocol/permission/permission-question.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { Tool } from '../../protocol/tools/tool.js';
import type { WorktreeLocation } from '../../protocol/tools/worktrees.js';
import { toolbox } from '../../tools/toolbox.js';
import { leadConfigPublisher } from '../lead-config/lead-config.js';
import { workspaceConfig } from '../lead-config/workspace-remote.js';
import { type AnswerChannels, answerChannels } from './answer-channels.js';
import { checkMode } from './check-mode.js';
import { collectHooks, type HookFunctions } from './collect-hooks.js';
import { collectTools, swarmSetup } from './collect-tools.js';
import { leadModel } from './lead-agent.js';
import { ignoredPromptFlags, leadAgentSettings } from './lead-agent-settings.js';
import { leadServices } from './lead-services.js';
import { openSandbox } from './open-sandbox.js';
import { chooseSession, sessionDirectory } from './options/choose-session.js';
import { commandSettings } from './options/command-settings.js';
import type { HostEnvironment } from './options/host-environment.js';
import { type OpenedStore, openStore } from './options/open-store.js';
import { type Provider, providerOf } from './options/provider.js';
import { answerFormat, requestSettings } from './options/request-settings.js';
import { runGovernor } from './options/run-governor.js';
import type { RunOptions } from './options/run-options.js';
import { settingsNotices } from './options/settings-notices.js';
import {
  type ContextProviderRequest,
  makeContextProvider,
  PROVIDER,
} from './prompt/make-context-provider.js';
import { NO_REDACTION, secretRedaction } from './secret-redaction.js';
import { workspaceRoots } from './session-checkpoints.js';
import { VERSION } from './version.js';

export interface SessionAssembly {
  readonly settings: LoadedSettings;
  readonly toolNames: readonly string[];
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
  readonly machine: HostEnvironment;
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
  const { machine, flags } = request;
  const store = await openStore(machine, flags);
  const forget = onOutageChange(store.sessions, machine.notify);
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
  const { machine, flags } = request;
  const startDirectory = flags.cwd === undefined ? machine.cwd : resolve(machine.cwd, flags.cwd);
  const choice = await chooseSession(flags, store.sessions, startDirectory);
  const cwd =
    request.worker?.cwd ?? (await sessionDirectory(choice, store.sessions, startDirectory));
  const loaded = commandSettings(machine, flags, cwd);
  const env = { ...machine.env, ...settingsEnv(loaded) };
  const provider = request.provider ?? providerOf(env);
  const format = answerFormat(flags);
  const { skein } = loaded;
  const isNew = choice.kind === 'new';
  const run = await collectTools(flags, loaded, machine, request.tools ?? [], isNew);
  const { agent, catalog } = run;
  const lead = leadAgentSettings(flags, loaded, run.named);
  const settings = { ...loaded, mode: lead.mode };
  checkMode(settings.mode.value, machine, settings);
  const earlyNotices = [
    ...settingsNotices(settings, run.toolNames, run.withheld),
    ...ignoredPromptFlags(choice, flags),
    ...run.notices,
    ...lead.notices,
  ];
  const redaction = secretRedaction(secretValues(env));
  const redacting = skein.redactSecrets ? redaction : NO_REDACTION;
  const tools = toolbox(run.tools.map(redacting.tool));
  const modelNamed = (name: string) => resolveModel(name, skein.modelAliases);
  const defaultModel = modelNamed('default');
  const modelSetting = leadModel(settings, agent);
  const modelName = modelSetting === undefined ? undefined : modelNamed(modelSetting);
  checkBudget(skein.maxBudgetUsd, modelName ?? defaultModel);
  const model = anthropicModel({
    ...provider,
    env,
    clock: systemClock,
    streamIdleTimeoutMs: skein.streamIdleTimeoutMs,
  });
  const watchdog = watchdogLink({ command: machine.watchdog, marker: store.owner });
  const environment = childEnvironment(env, store.owner, tmpdir());
  const roots = workspaceRoots(cwd, settings);
  const sandbox = await openSandbox(settings, machine, { roots, environment, watchdog });
  const shell = redacting.shell(sandbox.shell);
  const inWorktree = sandbox.shellIn;
  const shellIn =
    inWorktree && ((worktree: WorktreeLocation) => redacting.shell(inWorktree(worktree)));
  const hookShell = hostShell({ environment, watchdog });
  const hooks = collectHooks(settings, request.hooks, run.named?.hooks ?? [], hookShell);
  const web = webClient({
    env,
    clock: systemClock,
    userAgent: `skein/${VERSION}`,
    allowPrivateAddresses: skein.allowPrivateAddresses,
  });
  const surfaces = Object.entries(request.surfaces).map(([name, surface]) =>
    signingSurface(name, surface, systemClock),
  );
  const isInteractive = flags.ask === true || surfaces.length > 0;
  const { skeinHome } = settings;
  const channels = answerChannels({
    machine,
    flags,
    skeinHome,
    store: store.sessions,
    surfaces: request.surfaces,
    personKeys: skein.personKeys,
  });
  // Only the lead publishes the workspace to workers.
  const workspace = request.worker
    ? { config: {}, notices: [] }
    : await workspaceConfig(store, settings, cwd, environment);
  const mode = modeSwitch(settings.mode.value, (next) => checkMode(next, machine, settings));
  const prompt: ContextProviderRequest = {
    machine,
    flags,
    settings,
    tools,
    agent,
    agents: run.customAgents,
    mode,
    environment,
    cwd,
    model: modelName ?? defaultModel,
    defaultModel,
    isInteractive,
    isOneShot: !request.staysIdle,
    querySource: querySourceOf(request),
    loaded: hooks.loaded,
  };
  const options: SessionOptions = {
    store: store.sessions,
    choice,
    owner: store.owner,
    ids: randomIds,
    clock: systemClock,
    // A resumed session keeps its model unless this command names another.
    modelName: isNew || isFromCommandLine(settings.model?.source) ? modelName : undefined,
    defaultModel,
    fresh: {
      cwd: startDirectory,
      version: VERSION,
      entrypoint: request.entrypoint ?? 'cli',
      title: redaction.redact(request.title),
    },
    contextProvider: makeContextProvider(prompt),
    swarm: swarmSetup({
      catalog,
      settings,
      modelNamed,
      tools,
      environment,
      shellIn,
      clones: request.worker?.clones,
      runHook: commandHookRunner(hookShell, settings.workspace.root),
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
  const services = {
    machine,
    store,
    settings,
    tools,
    isNew,
    shared: {
      shell,
      search: hostSearch(environment, machine.env),
      model,
      web: cachedWeb(web, systemClock),
      governor: runGovernor(store, skein.maxConcurrentRequests, provider),
      fallbackModel: settings.fallbackModel && modelNamed(settings.fallbackModel.value),
    },
    maxTurns: lead.maxTurns,
    staysIdle: request.staysIdle,
    mode,
    surfacesOf: (session: string) => channels.surfaces(session, surfaces),
    answersByHook: hooks.equipment?.setups.some(isAnswering) ?? false,
    // Files in a clone need no checkpoints: the lead's workspace is on another machine.
    keepsCheckpoints:
      flags.sessionPersistence !== false && request.worker?.clones?.lacksWorkspace !== true,
    environment,
  };
  return {
    settings,
    notices: [...earlyNotices, ...hooks.warnings, ...sandbox.notices, ...workspace.notices],
    toolNames: tools.visible.map(({ name }) => name),
    agentNames: catalog.agents.map(({ name }) => name),
    options,
    services: (opened) => leadServices(services, opened),
    mode,
    answerChannels: channels,
    release: sandbox.release,
  };
};

const isAnswering = ({ event }: { readonly event: string }) => event === 'PermissionRequest';

const settingsEnv = (settings: LoadedSettings): Record<string, string> =>
  Object.fromEntries(Object.entries(settings.env).map(([name, { value }]) => [name, value]));

/** Returns the kind of run, by which the lifetime of cache entries is chosen. */
const querySourceOf = ({ entrypoint = 'cli', staysIdle }: AssemblyOptions): string => {
  if (entrypoint !== 'cli') return entrypoint;
  return staysIdle ? 'repl' : 'print';
};

const checkBudget = (maxUsd: number | undefined, model: string): void => {
  if (maxUsd === undefined || modelFacts(model) !== undefined) return;
  throw new UsageError(
    `The price of ${model} is unknown, so a budget cannot be enforced: choose another model or leave the budget out.`,
  );
};
