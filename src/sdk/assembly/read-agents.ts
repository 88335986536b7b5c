/** Reads the agent definitions of a run, and the notices about definitions that cannot be used. */
import {
  type AgentCatalog,
  readAgentCatalog,
  type UnusableAgent,
} from '../../config/agents/agent-catalog.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { toolsetRules } from '../../policy/agent-toolset.js';
import { ruleProblems } from '../../policy/rules/compile-rules.js';
import type { KnownTools } from '../../policy/rules/never-matches.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import { UsageError } from '../../protocol/skein-error.js';
import { agentSources, withAllowedHooks } from './lead-agent.js';
import type { HostEnvironment } from './options/host-environment.js';
import type { RunOptions } from './options/run-options.js';

/** Reads all agent definitions that the run may use. Rejects with UsageError if `--agents` is invalid. */
export const readAgents = async (
  flags: RunOptions,
  settings: LoadedSettings,
  host: HostEnvironment,
  known: KnownTools,
): Promise<AgentCatalog> => {
  const { agents, unusable, ...rest } = await readAgentCatalog(agentSources(flags, settings, host));
  const checked = agents.map((agent) => withUsableRules(withAllowedHooks(settings, agent), known));
  return {
    ...rest,
    agents: checked.filter((agent): agent is AgentDefinition => !('problem' in agent)),
    unusable: [
      ...unusable,
      ...checked.filter((agent): agent is UnusableAgent => 'problem' in agent),
    ],
  };
};

/**
 * Refuses an agent with a deny rule that cannot be read or can never match, because it would deny nothing.
 * Throws UsageError if the agent comes from `--agents`.
 */
export const withUsableRules = (
  agent: AgentDefinition,
  known: KnownTools,
): AgentDefinition | UnusableAgent => {
  const { name, path, source } = agent;
  const forbidden = agent.disallowedTools
    .filter((name) => !name.includes('*'))
    .map((text) => ({ behavior: 'deny', text, source: 'command' }) as const);
  const rules = [...toolsetRules(agent), ...forbidden].map((rule) => ({ ...rule, file: path }));
  const problems = ruleProblems(rules, known);
  if (problems.length === 0) return agent;
  const problem = problems.find(({ fatal }) => fatal)?.message;
  if (problem === undefined) {
    return { ...agent, warnings: [...agent.warnings, ...problems.map(({ message }) => message)] };
  }
  if (source === 'command') throw new UsageError(problem);
  return { name, path, problem };
};

/** Maximum unusable agents that are named at the start of a run. */
const MAX_UNUSABLE_SHOWN = 3;

/** Returns the notices that matter for this run. `skein agents` shows all warnings. */
export const agentNotices = ({ agents, unusable }: AgentCatalog): readonly string[] => {
  const more = unusable.length - MAX_UNUSABLE_SHOWN;
  return [
    ...unusable.slice(0, MAX_UNUSABLE_SHOWN).map(({ problem }) => problem),
    ...(more > 0 ? [`${more} more agents cannot be used; run skein agents.`] : []),
    ...agents.flatMap(({ source, warnings }) => (source === 'command' ? warnings : [])),
  ];
};
