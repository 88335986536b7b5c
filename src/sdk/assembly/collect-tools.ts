/** Collects the tools of a run and its agents: built-in tools and the tools of the host. */
import type { OwnPrompt, SwarmSetup } from '../../actors/tree/swarm-context.js';
import type { AgentCatalog } from '../../config/agents/agent-catalog.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { worktreeHome } from '../../config/workspace/state-layout.js';
import { gitWorktrees } from '../../host/worktrees/git-worktrees.js';
import { forbiddenTools } from '../../policy/rules/forbidden-tools.js';
import type { KnownTools } from '../../policy/rules/never-matches.js';
import { type AgentDefinition, givesTool } from '../../protocol/agent/agent-definition.js';
import type { RunHookCommand } from '../../protocol/permission/hook-setup.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { Tool } from '../../protocol/tools/tool.js';
import { agentListing } from '../../tools/agents/agent-listing.js';
import { taskTool } from '../../tools/agents/spawn-agent.js';
import { builtinTools } from '../../tools/builtin-tools.js';
import { type Toolbox, toolbox } from '../../tools/toolbox.js';
import { leadAgent, leadTools } from './lead-agent.js';
import type { HostEnvironment } from './options/host-environment.js';
import { knownTools } from './options/known-tools.js';
import type { RunOptions } from './options/run-options.js';
import { agentNotices, readAgents, withUsableRules } from './read-agents.js';

interface CollectedTools {
  readonly tools: readonly Tool[];
  /** Names of the tools that rules forbid outright. New prompts do not show them. */
  readonly hidden: ReadonlySet<string>;
  /** Definition that a new session's lead works as. Undefined for a resumed session. */
  readonly agent: AgentDefinition | undefined;
  /** Definition that `--agent` names, also for a resumed session: its hooks and limits still apply. */
  readonly named: AgentDefinition | undefined;
  readonly catalog: AgentCatalog;
  /** Agents of an untrusted workspace that apply only in part, except the lead's own, which says so itself. */
  readonly withheld: AgentCatalog['withheld'];
  /** List of the agents that are not built in, as the model reads it. */
  readonly customAgents: string;
  /** Tools that permission rules may name. */
  readonly known: KnownTools;
  readonly notices: readonly string[];
}

/**
 * Rejects with UsageError if the host's tools or the agents of the command line cannot be used. `areAll` is
 * false on a worker, which does not have the tools of the lead's host.
 */
export const collectTools = async (
  flags: RunOptions,
  settings: LoadedSettings,
  host: HostEnvironment,
  ofHost: readonly Tool[],
  isNew: boolean,
  areAll: boolean,
): Promise<CollectedTools> => {
  checkToolNames(ofHost, builtinTools);
  const known = knownTools([...builtinTools, ...ofHost], areAll);
  const catalog = await readAgents(flags, settings, host, known);
  // Tool descriptions are shared by all users' prompts in the cache, so only built-in agents are listed there.
  const isBuiltin = ({ source }: AgentDefinition) => source === 'builtin';
  const task = taskTool(agentListing(catalog.agents.filter(isBuiltin)));
  const builtin = builtinTools
    .filter(({ name }) => settings.skein.webSearch || name !== 'WebSearch')
    .map((tool) => (tool.name === task.name ? task : tool));
  const named = await leadAgent(flags, settings, host);
  const checked = named && withUsableRules(named, known);
  if (checked !== undefined && 'problem' in checked) throw new UsageError(checked.problem);
  const agent = isNew ? named : undefined;
  const { tools, notices } = leadTools([...builtin, ...ofHost], agent);
  return {
    tools,
    hidden: new Set(forbiddenTools(settings.rules, [...builtin, ...ofHost])),
    agent,
    named,
    catalog,
    withheld: catalog.withheld,
    customAgents: agentListing(catalog.agents.filter((agent) => !isBuiltin(agent))),
    known,
    notices: [...agentNotices(catalog), ...notices],
  };
};

/** Returns the tool for a toolbox. A forbidden tool can be called, and the rule then says why it is denied. */
export const showUnless = (hidden: ReadonlySet<string>, tool: Tool) => ({
  tool,
  visible: !hidden.has(tool.name),
  executable: true,
});

interface SwarmSetupOptions {
  readonly catalog: AgentCatalog;
  readonly settings: LoadedSettings;
  readonly modelNamed: (name: string) => string;
  readonly runHook: RunHookCommand;
  /** All tools of the run. */
  readonly tools: Toolbox;
  /** Names of the tools that rules forbid outright. */
  readonly hidden: ReadonlySet<string>;
  /** Returns the context provider of an agent that does not share the lead's prompt. */
  readonly contextFor: (
    definition: AgentDefinition,
    tools: Toolbox,
  ) => OwnPrompt['contextProvider'];
  /** Environment of child processes, for git. */
  readonly environment: Readonly<Record<string, string>>;
  readonly shellIn: SwarmSetup['shellIn'];
  readonly clones: SwarmSetup['clones'];
}

/** Returns what all agents of a swarm share, from its settings and definitions. */
export const swarmSetup = (options: SwarmSetupOptions): SwarmSetup => {
  const { catalog, settings, modelNamed, runHook, contextFor } = options;
  const { maxAgents, maxConcurrentAgents, maxDepth } = settings.skein;
  const { agentWallTimeoutMs: wallMs, agentIdleTimeoutMs: idleMs } = settings.skein;
  const { queuePriority: priority, queueDelayMs: delayMs } = settings.skein;
  return {
    definitions: catalog.agents,
    unusable: catalog.unusable,
    limits: { maxAgents, maxConcurrentAgents, maxDepth },
    times: { wallMs, idleMs },
    modelNamed,
    runHook,
    shellIn: options.shellIn,
    queueing: { priority, delayMs },
    worktrees: gitWorktrees(worktreeHome(settings.skeinHome, options.environment)),
    clones: options.clones,
    ownPrompt(definition) {
      const given = options.tools.all.filter((tool) => givesTool(definition, tool));
      const agentTools = toolbox(given.map((tool) => showUnless(options.hidden, tool)));
      return { toolbox: agentTools, contextProvider: contextFor(definition, agentTools) };
    },
  };
};

/** Throws UsageError if two tools share a name. */
const checkToolNames = (custom: readonly Tool[], builtin: readonly Tool[]): void => {
  const taken = new Set(builtin.map(({ name }) => name));
  for (const { name } of custom) {
    if (taken.has(name)) {
      throw new UsageError(`Two tools are named "${name}". Give yours another name.`);
    }
    taken.add(name);
  }
};
