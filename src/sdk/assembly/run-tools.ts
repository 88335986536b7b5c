/** The tools of a run and the agents that it may start: those of the house, the host's own, and Task. */
import type { OwnPrompt, SwarmSetup } from '../../actors/tree/swarm-context.js';
import type { AgentRoster } from '../../config/agents/agent-catalog.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { realPath } from '../../config/workspace/real-path.js';
import { stateLayout } from '../../config/workspace/state-directory.js';
import type { WorktreeHome } from '../../host/git/git-repository.js';
import { gitWorktrees } from '../../host/worktrees/git-worktrees.js';
import { type AgentDefinition, givesTool } from '../../protocol/agent/agent-definition.js';
import type { RunHookCommand } from '../../protocol/permission/hook-setup.js';
import type { Tool } from '../../protocol/tools/tool.js';
import { agentListing } from '../../tools/agents/agent-listing.js';
import { taskTool } from '../../tools/agents/spawn-agent.js';
import { builtinTools } from '../../tools/builtin-tools.js';
import { type Toolbox, toolbox } from '../../tools/toolbox.js';
import { rosterFor, rosterNotices } from './agent-catalog.js';
import { agentFor, toolsFor } from './lead-agent.js';
import type { HostEnvironment } from './options/host-environment.js';
import type { RunOptions } from './options/run-options.js';
import { checkToolNames } from './tool-names.js';

export interface RunTools {
  readonly tools: readonly Tool[];
  /** The agent that the lead is, where a new session names one. */
  readonly agent: AgentDefinition | undefined;
  /** The same, also where a former session goes on: what guards an agent guards it then too. */
  readonly named: AgentDefinition | undefined;
  readonly roster: AgentRoster;
  /** Those of a workspace that nobody trusts, of which not all applies; the lead's own file says so itself. */
  readonly withheld: readonly string[];
  /** Those that are not everybody's, as the model reads of them. */
  readonly ofHere: string;
  /** All that rules may name. */
  readonly known: readonly string[];
  readonly notices: readonly string[];
}

/** Throws a UsageError for tools and agents of the command that cannot be used. */
export const runTools = async (
  flags: RunOptions,
  settings: LoadedSettings,
  machine: HostEnvironment,
  ofHost: readonly Tool[],
  isNew: boolean,
): Promise<RunTools> => {
  checkToolNames(ofHost, builtinTools);
  const roster = await rosterFor(flags, settings, machine);
  // Everybody shares the tools, and so their words; what is not everybody's stands behind them.
  const isEverybodys = ({ source }: AgentDefinition) => source === 'builtin';
  const task = taskTool(agentListing(roster.agents.filter(isEverybodys)));
  const own = builtinTools
    .filter(({ name }) => settings.skein.webSearch || name !== 'WebSearch')
    .map((tool) => (tool.name === task.name ? task : tool));
  const named = await agentFor(flags, settings, machine);
  const agent = isNew ? named : undefined;
  const { tools, notices } = toolsFor([...own, ...ofHost], agent);
  const known = [...builtinTools, ...ofHost].map(({ name }) => name);
  const ofHere = agentListing(roster.agents.filter((it) => !isEverybodys(it)));
  const told = [...rosterNotices(roster), ...notices];
  const withheld = roster.withheld.filter((name) => name !== agent?.name);
  return { tools, agent, named, roster, withheld, ofHere, known, notices: told };
};

export interface SwarmRequest {
  readonly roster: AgentRoster;
  readonly settings: LoadedSettings;
  readonly modelNamed: (name: string) => string;
  readonly runHook: RunHookCommand;
  /** All tools of the run. */
  readonly tools: Toolbox;
  /** The prompt of an agent that does not share the lead's. */
  readonly promptOf: (definition: AgentDefinition, tools: Toolbox) => OwnPrompt['briefing'];
  /** That of a child process. */
  readonly environment: Readonly<Record<string, string>>;
  readonly shellIn: SwarmSetup['shellIn'];
  readonly clones: SwarmSetup['clones'];
}

export const swarmFor = (request: SwarmRequest): SwarmSetup => {
  const { roster, settings, modelNamed, runHook, promptOf } = request;
  const { maxAgents, maxConcurrentAgents, maxDepth } = settings.skein;
  const { agentWallTimeoutMs: wallMs, agentIdleTimeoutMs: idleMs } = settings.skein;
  const { queuePriority: priority, queueDelayMs: delayMs } = settings.skein;
  return {
    definitions: roster.agents,
    unusable: roster.unusable,
    limits: { maxAgents, maxConcurrentAgents, maxDepth },
    times: { wallMs, idleMs },
    modelNamed,
    runHook,
    shellIn: request.shellIn,
    queueing: { priority, delayMs },
    worktrees: gitWorktrees(worktreeHome(settings.skeinHome, request.environment)),
    clones: request.clones,
    ownPrompt(definition) {
      const own = toolbox(request.tools.all.filter((tool) => givesTool(definition, tool)));
      return { toolbox: own, briefing: promptOf(definition, own) };
    },
  };
};

export const worktreeHome = (
  skeinHome: string,
  environment: WorktreeHome['environment'],
): WorktreeHome => ({
  folder: stateLayout(skeinHome).worktrees,
  without: [realPath(skeinHome)],
  environment,
});
