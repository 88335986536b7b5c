/** Settles what a session will be, from flags, settings and the repository. Opens no process and no session. */
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import type { SessionChoice } from '../../actors/session/begin-session.js';
import type { AgentCatalog } from '../../config/agents/agent-catalog.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { resolveModel } from '../../config/settings/model-aliases.js';
import { childEnvironment } from '../../host/process/ownership/child-environment.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import { modelFacts } from '../../protocol/model/model-facts.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { Tool } from '../../protocol/tools/tool.js';
import type { AssemblyOptions } from './assemble-session.js';
import { checkMode } from './check-mode.js';
import { collectTools } from './collect-tools.js';
import { leadModel } from './lead-agent.js';
import { ignoredPromptFlags, leadAgentSettings } from './lead-agent-settings.js';
import { chooseSession, sessionDirectory } from './options/choose-session.js';
import { commandSettings } from './options/command-settings.js';
import type { OpenedStore } from './options/open-store.js';
import { settingsNotices } from './options/settings-notices.js';

export interface SessionConfig {
  readonly choice: SessionChoice;
  readonly isNew: boolean;
  /** Directory of a new session. */
  readonly startDirectory: string;
  /** Directory of the session, new or not. */
  readonly cwd: string;
  readonly settings: LoadedSettings;
  /** Environment of this process with the variables of the settings. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Environment of child processes. */
  readonly environment: Readonly<Record<string, string>>;
  readonly tools: readonly Tool[];
  /** Names of the tools that rules forbid outright. New prompts do not show them. */
  readonly hiddenTools: ReadonlySet<string>;
  readonly catalog: AgentCatalog;
  /** List of the agents that are not built in, as the model reads it. */
  readonly customAgents: string;
  /** Definition that a new session's lead works as. Undefined for a resumed session. */
  readonly agent: AgentDefinition | undefined;
  /** Definition that `--agent` names, also for a resumed session. */
  readonly namedAgent: AgentDefinition | undefined;
  /** Maximum turns of a run, or null for no limit. */
  readonly maxTurns: number | null;
  /** Resolves a model alias. */
  readonly modelNamed: (name: string) => string;
  /** Model that flags, settings or the agent name. Undefined if none of them does. */
  readonly model: string | undefined;
  readonly defaultModel: string;
  /** Sentences to show to the person before the first run. */
  readonly notices: readonly string[];
}

/** Rejects with UsageError if flags or settings cannot be used. */
export const sessionConfig = async (
  request: AssemblyOptions,
  store: OpenedStore,
): Promise<SessionConfig> => {
  const { host, flags } = request;
  const startDirectory = flags.cwd === undefined ? host.cwd : resolve(host.cwd, flags.cwd);
  const choice = await chooseSession(flags, store.sessions, startDirectory);
  const cwd =
    request.worker?.cwd ?? (await sessionDirectory(choice, store.sessions, startDirectory));
  const loaded = commandSettings(host, flags, cwd);
  const isNew = choice.kind === 'new';
  const collected = await collectTools(
    flags,
    loaded,
    host,
    request.tools ?? [],
    isNew,
    request.worker === undefined,
  );
  const { tools, catalog, customAgents, agent, named: namedAgent } = collected;
  const lead = leadAgentSettings(flags, loaded, namedAgent);
  const settings = { ...loaded, mode: lead.mode };
  checkMode(settings.mode.value, host, settings);
  const modelNamed = (name: string) => resolveModel(name, settings.skein.modelAliases);
  const defaultModel = modelNamed('default');
  const modelSetting = leadModel(settings, agent);
  const model = modelSetting === undefined ? undefined : modelNamed(modelSetting);
  checkBudget(settings.skein.maxBudgetUsd, model ?? defaultModel);
  const env = { ...host.env, ...settingsEnv(settings) };
  return {
    choice,
    isNew,
    startDirectory,
    cwd,
    settings,
    env,
    environment: childEnvironment(env, store.owner, tmpdir()),
    tools,
    hiddenTools: collected.hidden,
    catalog,
    customAgents,
    agent,
    namedAgent,
    maxTurns: lead.maxTurns,
    modelNamed,
    model,
    defaultModel,
    notices: [
      ...settingsNotices(settings, collected.known, collected.withheld),
      ...ignoredPromptFlags(choice, flags),
      ...collected.notices,
      ...lead.notices,
    ],
  };
};

const settingsEnv = (settings: LoadedSettings): Record<string, string> =>
  Object.fromEntries(Object.entries(settings.env).map(([name, { value }]) => [name, value]));

const checkBudget = (maxUsd: number | undefined, model: string): void => {
  if (maxUsd === undefined || modelFacts(model) !== undefined) return;
  throw new UsageError(
    `The price of ${model} is unknown, so a budget cannot be enforced: choose another model or leave the budget out.`,
  );
};
