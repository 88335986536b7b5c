/** The agents of a run: all that can be asked for, and what a person should hear of the rest. */
import {
  type AgentRoster,
  readRoster,
  type UnusableAgent,
} from '../../config/agents/agent-catalog.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { rulesOf } from '../../policy/agent-toolset.js';
import { ruleProblems } from '../../policy/rules/rule-matcher.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import { UsageError } from '../../protocol/errors.js';
import { hookedAs, rosterPlaces } from './lead-agent.js';
import type { HostEnvironment } from './options/host-environment.js';
import type { RunOptions } from './options/run-options.js';

/** Throws a UsageError for agents of the command that are wrong. */
export const rosterFor = async (
  flags: RunOptions,
  settings: LoadedSettings,
  machine: HostEnvironment,
): Promise<AgentRoster> => {
  const { agents, unusable, ...rest } = await readRoster(rosterPlaces(flags, settings, machine));
  const checked = agents.map((agent) => withReadableRules(hookedAs(settings, agent)));
  return {
    ...rest,
    agents: checked.filter((it): it is AgentDefinition => !('problem' in it)),
    unusable: [...unusable, ...checked.filter((it): it is UnusableAgent => 'problem' in it)],
  };
};

/** A part of a tool that is denied in words nobody can read is not denied: then there is no agent. */
const withReadableRules = (agent: AgentDefinition): AgentDefinition | UnusableAgent => {
  const { name, path, source } = agent;
  const problems = ruleProblems(rulesOf(agent).map((rule) => ({ ...rule, file: path })));
  if (problems.length === 0) return agent;
  const problem = problems.find(({ fatal }) => fatal)?.message;
  if (problem === undefined) {
    return { ...agent, warnings: [...agent.warnings, ...problems.map(({ message }) => message)] };
  }
  if (source === 'command') throw new UsageError(problem);
  return { name, path, problem };
};

/** More help nobody at the start of a run. */
const MOST = 3;

/** What changes the run that somebody expects; `skein agents` has the rest. */
export const rosterNotices = ({ agents, unusable }: AgentRoster): readonly string[] => {
  const more = unusable.length - MOST;
  return [
    ...unusable.slice(0, MOST).map(({ problem }) => problem),
    ...(more > 0 ? [`${more} more agents cannot be used; run skein agents.`] : []),
    ...agents.flatMap(({ source, warnings }) => (source === 'command' ? warnings : [])),
  ];
};
