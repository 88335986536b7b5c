/** Puts a run together from flags, settings and this machine. The only place that knows them all. */
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { type ModeSwitch, modeSwitch } from '../../actors/permissions/mode-switch.js';
import { permissionManager } from '../../actors/permissions/permission-manager.js';
import { signingSurface } from '../../actors/permissions/signing-surface.js';
import type { SessionOptions } from '../../actors/session/session.js';
import { tellOutages } from '../../actors/session/store-outages.js';
import type { SwarmSetup } from '../../actors/tree/swarm-context.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { resolveModel } from '../../config/settings/model-aliases.js';
import { isTyped } from '../../config/settings/settings-layers.js';
import { realPath } from '../../config/workspace/real-path.js';
import { windowMarks } from '../../context/window/window.js';
import { diskWorkspace } from '../../host/files/disk-workspace.js';
import { commandHooks } from '../../host/process/command-hook.js';
import { childEnvironment } from '../../host/process/ownership/child-environment.js';
import { watchdogLink } from '../../host/process/ownership/watchdog-link.js';
import { hostShell } from '../../host/process/shell.js';
import { hostSearch } from '../../host/search/host-search.js';
import { cachedWeb } from '../../host/web/web-cache.js';
import { webClient } from '../../host/web/web-client.js';
import { anthropicModel } from '../../model/anthropic.js';
import { keysIn } from '../../policy/redaction/redaction.js';
import { DEFAULT_LIMITS } from '../../protocol/agent/agent.js';
import { systemClock } from '../../protocol/clock.js';
import { UsageError } from '../../protocol/errors.js';
import { randomIds } from '../../protocol/ids.js';
import { modelFacts } from '../../protocol/model/prices.js';
import { capabilitiesOf } from '../../protocol/model/providers.js';
import type { RawJson } from '../../protocol/model/wire.js';
import type { Surface } from '../../protocol/permission/permission.js';
import type { Tool } from '../../protocol/tools/tool.js';
import type { WorktreePlace } from '../../protocol/tools/worktree.js';
import { type Toolbox, toolbox } from '../../tools/toolbox.js';
import { leadConfigFor } from '../lead-config/signed-lead-config.js';
import { workspaceConfig } from '../lead-config/travel-terms.js';
import { VERSION } from '../version.js';
import { type RunInbox, runInbox } from './answer-channels.js';
import { keepRule } from './kept-rule.js';
import { modelFor } from './lead-agent.js';
import { leadTerms, promptNotice } from './lead-agent-settings.js';
import { checkMode } from './mode-check.js';
import { settingsFor } from './options/command-settings.js';
import type { HostEnvironment } from './options/host-environment.js';
import { type OpenedStore, openStore } from './options/open-store.js';
import { type Provider, providerOf } from './options/provider.js';
import { answerFormat, requestSettings } from './options/request-settings.js';
import { governorOf } from './options/run-governor.js';
import type { RunOptions } from './options/run-options.js';
import { chooseSession, directoryOf } from './options/session-choice.js';
import { settingsNotices } from './options/settings-notices.js';
import { PROVIDER, type PromptRequest, promptFor } from './prompt/run-prompt.js';
import { runArtifacts } from './run-artifacts.js';
import { type HookFunctions, runHooks } from './run-hooks.js';
import { shellForRun } from './run-sandbox.js';
import { runTools, swarmFor } from './run-tools.js';
import { NO_REDACTION, secretRedaction } from './secret-redaction.js';
import { checkpointsFor, rootsOf } from './session-checkpoints.js';
import { shownTools } from './tool-names.js';

export interface SessionAssembly {
  readonly settings: LoadedSettings;
  readonly toolNames: readonly string[];
  /** Types that Task may start. */
  readonly agentNames: readonly string[];
  /** Sentences that a person should see before anything runs. */
  readonly notices: readonly string[];
  readonly options: SessionOptions;
  readonly mode: ModeSwitch;
  /** What other terminals can do with the run. */
  readonly inbox: RunInbox;
  /** Lets go of what outlives the session: nothing that it started goes on. */
  release(): void;
}

export interface AssemblyOptions {
  readonly machine: HostEnvironment;
  readonly flags: RunOptions;
  readonly title: string;
  /** Whoever can answer, by the name that the journal calls it. */
  readonly surfaces: Readonly<Record<string, Surface>>;
  /** Rests between prompts instead of stopping. */
  readonly lingers: boolean;
  readonly wantsStreamEvents: boolean;
  /** Where the model is, when it is not where the environment says. */
  readonly provider?: Provider;
  /** The host's own tools. */
  readonly tools?: readonly Tool[];
  /** What kind of host begins the session; `cli` when it does not say. */
  readonly entrypoint?: string;
  /** The host's own. */
  readonly hooks?: HookFunctions | undefined;
  /** Of a worker: where the workspace is on this machine, and how its agents get theirs. */
  readonly outpost?: { readonly workplace: string; readonly clones: SwarmSetup['clones'] };
}

/** Whoever gets it closes its store. Throws a UsageError; then nothing is left open. */
export const openAndAssemble = async (request: AssemblyOptions): Promise<SessionAssembly> => {
  const { machine, flags } = request;
  const store = await openStore(machine, flags);
  const forget = tellOutages(store.sessions, machine.notify);
  try {
    return await assembleSession(request, store);
  } catch (error) {
    await store.sessions.close();
    throw error;
  } finally {
    forget();
  }
};

/** With a store that is open already, and stays so. */
export const assembleSession = async (
  request: AssemblyOptions,
  store: OpenedStore,
): Promise<SessionAssembly> => {
  const { machine, flags } = request;
  const here = flags.cwd === undefined ? machine.cwd : resolve(machine.cwd, flags.cwd);
  const choice = await chooseSession(flags, store.sessions, here);
  const workplace = request.outpost?.workplace ?? (await directoryOf(choice, store.sessions, here));
  const loaded = settingsFor(machine, flags, workplace);
  const env = { ...machine.env, ...settingsEnv(loaded) };
  const provider = request.provider ?? providerOf(env);
  const format = answerFormat(flags);
  const { skein } = loaded;
  const isNew = choice.kind === 'new';
  const left = await runTools(flags, loaded, machine, request.tools ?? [], isNew);
  const { agent, roster } = left;
  const terms = leadTerms(flags, loaded, left.named);
  const settings = { ...loaded, mode: terms.mode };
  checkMode(settings.mode.value, machine, settings);
  const told = [
    ...settingsNotices(settings, left.known, left.withheld),
    ...promptNotice(choice, flags),
    ...left.notices,
    ...terms.notices,
  ];
  const secrecy = secretRedaction(keysIn(env));
  const discreet = skein.redactSecrets ? secrecy : NO_REDACTION;
  const tools = toolbox(left.tools.map(discreet.tool));
  const alias = (name: string) => resolveModel(name, skein.modelAliases);
  const wanted = modelFor(settings, agent);
  const modelName = wanted === undefined ? undefined : alias(wanted);
  const fallback = settings.fallbackModel && alias(settings.fallbackModel.value);
  checkBudget(skein.maxBudgetUsd, modelName ?? alias('default'));
  const model = anthropicModel({
    ...provider,
    env,
    clock: systemClock,
    streamIdleTimeoutMs: skein.streamIdleTimeoutMs,
  });
  const watchdog = watchdogLink({ command: machine.watchdog, marker: store.owner });
  const environment = childEnvironment(env, store.owner, tmpdir());
  const search = hostSearch(environment, machine.env);
  const roots = rootsOf(workplace, settings);
  const caged = await shellForRun(settings, machine, { roots, environment, watchdog });
  const shell = discreet.shell(caged.shell);
  const inTree = caged.shellIn;
  const shellIn = inTree && ((place: WorktreePlace) => discreet.shell(inTree(place)));
  const hookShell = hostShell({ environment, watchdog });
  const hooks = runHooks(settings, request.hooks, left.named?.hooks ?? [], hookShell);
  const web = webClient({
    env,
    clock: systemClock,
    userAgent: `skein/${VERSION}`,
    allowPrivateAddresses: skein.allowPrivateAddresses,
  });
  const pages = cachedWeb(web, systemClock);
  const surfaces = Object.entries(request.surfaces).map(([name, surface]) =>
    signingSurface(name, surface, systemClock),
  );
  const isAsked = flags.ask === true;
  const { skeinHome } = settings;
  const inbox = runInbox({
    machine,
    flags,
    skeinHome,
    store: store.sessions,
    surfaces: request.surfaces,
    personKeys: skein.personKeys,
  });
  // A worker does not say what its lead has said.
  const travel = request.outpost
    ? { terms: {}, notices: [] }
    : await workspaceConfig(store, settings, workplace, environment);
  const mode = modeSwitch(settings.mode.value, (wanted) => checkMode(wanted, machine, settings));
  const shared = governorOf(store, skein.maxConcurrentRequests, provider);
  const prompt: PromptRequest = {
    machine,
    flags,
    settings,
    tools,
    agent,
    agents: left.ofHere,
    mode,
    environment,
    cwd: workplace,
    model: modelName ?? alias('default'),
    defaultModel: alias('default'),
    isInteractive: isAsked || surfaces.length > 0,
    isOneShot: !request.lingers,
    querySource: querySourceOf(request),
    loaded: hooks.loaded,
  };
  const options: SessionOptions = {
    store: store.sessions,
    choice,
    owner: store.owner,
    ids: randomIds,
    clock: systemClock,
    // A former session keeps its model unless this command names another.
    modelName: isNew || isTyped(settings.model?.source) ? modelName : undefined,
    defaultModel: alias('default'),
    fresh: {
      cwd: here,
      version: VERSION,
      entrypoint: request.entrypoint ?? 'cli',
      title: secrecy.redact(request.title),
    },
    briefing: promptFor(prompt),
    swarm: swarmFor({
      roster,
      settings,
      modelNamed: alias,
      tools,
      environment,
      shellIn,
      clones: request.outpost?.clones,
      runHook: commandHooks(hookShell, settings.workspace.root),
      promptOf: (definition, given) =>
        promptFor({ ...prompt, agent: { ...definition, proactive: false }, tools: given }),
    }),
    terms: leadConfigFor(store, flags, mode, skeinHome, {
      ...travel.terms,
      asks: isAsked || surfaces.length > 0,
    }),
    hooks: hooks.equipment,
    capabilities: capabilitiesOf(PROVIDER),
    requestSettings: (name) => requestSettings(name, settings, format),
    budget: { usd: skein.maxBudgetUsd ?? null, tokens: skein.maxBudgetTokens ?? null },
    wantsStreamEvents: request.wantsStreamEvents,
    ...(flags.sessionPersistence !== false && {
      checkpoints: ({ cwd }, record) =>
        checkpointsFor(
          {
            skeinHome: settings.skeinHome,
            roots: rootsOf(cwd, settings),
            environment,
            notify: machine.notify,
          },
          record,
        ),
    }),
    equip: (opened) => {
      const { meta, tools: head } = opened;
      const disk = diskWorkspace(machine.home);
      const { readable, ...kept } = runArtifacts(store, opened, disk, machine.notify);
      return {
        toolbox: isNew ? tools : onlyShown(tools, head),
        toolCount: tools.visible.length,
        shell,
        search,
        model,
        ...kept,
        web: pages,
        governor: shared,
        windowOf: (name) => windowMarks(name, skein.contextWindow),
        fallbackModel: fallback,
        chance: Math.random,
        limits: {
          ...DEFAULT_LIMITS,
          maxTurns: terms.maxTurns,
          maxRetries: skein.maxRetries,
        },
        lingers: request.lingers,
        desk: permissionManager({
          policy: {
            rules: settings.rules,
            roots: rootsOf(meta.cwd, settings),
            home: machine.home,
            skeinHome: settings.skeinHome,
            ...readable,
            realPath,
            ignoreCase: machine.platform === 'darwin',
          },
          mode,
          surfaces: inbox.surfaces(meta.id, surfaces),
          answersByHook: hooks.equipment?.setups.some(isAnswering) ?? false,
          permissionTimeoutMs: skein.permissionTimeoutMs,
          keepRule: (text) => keepRule(text, settings, machine),
        }),
      };
    },
  };
  const toolNames = tools.visible.map(({ name }) => name);
  const notices = [...told, ...hooks.warnings, ...caged.notices, ...travel.notices];
  const agentNames = roster.agents.map(({ name }) => name);
  const { release } = caged;
  return { settings, notices, toolNames, agentNames, options, mode, inbox, release };
};

const isAnswering = ({ event }: { readonly event: string }) => event === 'PermissionRequest';

/** A session that began as an agent with few tools has no more of them later. */
const onlyShown = (tools: Toolbox, head: RawJson): Toolbox => {
  const shown = new Set(shownTools(head));
  return tools.limitedTo(({ name }) => shown.has(name));
};

const settingsEnv = (settings: LoadedSettings): Record<string, string> =>
  Object.fromEntries(Object.entries(settings.env).map(([name, { value }]) => [name, value]));

/** What the requests of a run are for, where lifetimes of the cache are chosen by it. */
const querySourceOf = ({ entrypoint = 'cli', lingers }: AssemblyOptions): string => {
  if (entrypoint !== 'cli') return entrypoint;
  return lingers ? 'repl' : 'print';
};

const checkBudget = (maxUsd: number | undefined, model: string): void => {
  if (maxUsd === undefined || modelFacts(model) !== undefined) return;
  throw new UsageError(
    `The price of ${model} is unknown, so a budget cannot be kept: choose another model or leave the budget out.`,
  );
};
