/** The agent definition that the lead works as (`--agent`): its file, its tools and its model. */
import { type AgentSources, resolveAgent } from '../../config/agents/agent-catalog.js';
import { promptSources } from '../../config/agents/prompt-file.js';
import { readAgentsFlag } from '../../config/agents/read-agents-flag.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { isFromCommandLine } from '../../config/settings/settings-layers.js';
import {
  type AgentDefinition,
  givesTool,
  namesTool,
} from '../../protocol/agent/agent-definition.js';
import type { Tool } from '../../protocol/tools/tool.js';
import type { HostEnvironment } from './options/host-environment.js';
import type { RunOptions } from './options/run-options.js';

/** Returns undefined if no agent was named. Rejects with UsageError if the named agent cannot be used. */
export const leadAgent = async (
  flags: RunOptions,
  settings: LoadedSettings,
  host: HostEnvironment,
): Promise<AgentDefinition | undefined> => {
  const sources = agentSources(flags, settings, host);
  if (flags.agent === undefined) return undefined;
  return withAllowedHooks(settings, await resolveAgent(flags.agent, sources));
};

/** Removes the agent's own hooks if only managed hooks may run. */
export const withAllowedHooks = (
  { onlyManagedHooks }: Pick<LoadedSettings, 'onlyManagedHooks'>,
  agent: AgentDefinition,
): AgentDefinition => (onlyManagedHooks ? { ...agent, hooks: [] } : agent);

/** Returns the sources that agents are read from. Throws UsageError if `--agents` is invalid. */
export const agentSources = (
  { agents }: RunOptions,
  settings: LoadedSettings,
  host: HostEnvironment,
): AgentSources => ({
  ...promptSources(settings, host.home),
  ...(agents !== undefined && { ofCommand: readAgentsFlag(agents) }),
});

interface LeadTools {
  readonly tools: readonly Tool[];
  /** Warnings of the definition, and sentences about tools that the lead does not get. */
  readonly notices: readonly string[];
}

/** Returns the tools that the definition lists, in their usual order, or all if it lists none. */
export const leadTools = (all: readonly Tool[], agent: AgentDefinition | undefined): LeadTools => {
  if (agent === undefined) return { tools: all, notices: [] };
  const { tools: listed = ['*'], disallowedTools, limits, denials, path, warnings } = agent;
  const unknown = listed.filter(
    (entry) => !entry.endsWith('*') && !all.some(({ name }) => namesTool(entry, name)),
  );
  // A resumed session knows only which tools it was shown, not its definition's rules. So a lead cannot
  // have a part of a tool: the whole tool is left out.
  const partly = [...limits, ...denials];
  const forbidden = [...disallowedTools, ...partly.map((text) => text.replace(/\(.*$/s, ''))];
  const leftOut = (entries: readonly string[], what: string) =>
    entries.length === 0
      ? []
      : [`${path} lists ${what}. The agent works without: ${entries.join(', ')}.`];
  return {
    tools: all.filter((tool) => givesTool({ tools: listed, disallowedTools: forbidden }, tool)),
    notices: [
      ...warnings,
      ...leftOut(unknown, 'tools that do not exist here'),
      ...leftOut(partly, 'parts of tools, which a lead cannot have'),
    ],
  };
};

/** Returns the lead's model. Flags and the managed policy override the agent file, which overrides settings. */
export const leadModel = (
  { model }: Pick<LoadedSettings, 'model'>,
  agent: AgentDefinition | undefined,
): string | undefined =>
  isFromCommandLine(model?.source) || model?.source === 'policy'
    ? model?.value
    : (agent?.model ?? model?.value);
