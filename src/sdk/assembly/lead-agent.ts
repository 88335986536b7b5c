/** The agent that a run was asked to be: where its file is sought, and which tools it leaves. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RosterPlaces, resolveAgent } from '../../config/agents/agent-catalog.js';
import { readAgentsFlag } from '../../config/agents/agent-flag.js';
import type { PromptPlaces } from '../../config/agents/prompt-files.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { isTyped } from '../../config/settings/settings-layers.js';
import {
  type AgentDefinition,
  givesTool,
  namesTool,
} from '../../protocol/agent/agent-definition.js';
import type { Tool } from '../../protocol/tools/tool.js';
import type { HostEnvironment } from './options/host-environment.js';
import type { RunOptions } from './options/run-options.js';

/** Undefined when none was asked for. Throws a UsageError for one that cannot be had. */
export const agentFor = async (
  flags: RunOptions,
  settings: LoadedSettings,
  machine: HostEnvironment,
): Promise<AgentDefinition | undefined> => {
  const places = rosterPlaces(flags, settings, machine);
  if (flags.agent === undefined) return undefined;
  return hookedAs(settings, await resolveAgent(flags.agent, places));
};

/** Whoever switches hooks off means those of agents too. */
export const hookedAs = (
  { onlyManagedHooks }: Pick<LoadedSettings, 'onlyManagedHooks'>,
  agent: AgentDefinition,
): AgentDefinition => (onlyManagedHooks ? { ...agent, hooks: [] } : agent);

/** Throws a UsageError for agents of the command that are wrong. */
export const rosterPlaces = (
  { agents }: RunOptions,
  settings: LoadedSettings,
  machine: HostEnvironment,
): RosterPlaces => ({
  ...placesOf(settings, machine),
  ...(agents !== undefined && { ofCommand: readAgentsFlag(agents) }),
});

/** Where files with words for the prompt are. */
export const placesOf = (
  { workspace, skeinHome, trust }: Pick<LoadedSettings, 'workspace' | 'skeinHome' | 'trust'>,
  { home }: Pick<HostEnvironment, 'home'>,
): PromptPlaces => {
  const own = packageFolder();
  const isTrusted = trust === 'trusted';
  return { workspace, skeinHome, home, isTrusted, ...(own !== undefined && { own }) };
};

export interface LeftTools {
  readonly tools: readonly Tool[];
  /** Sentences for people. */
  readonly notices: readonly string[];
}

/** As a lead: the tools that its definition lists, in their usual order; all when it lists none. */
export const toolsFor = (all: readonly Tool[], agent: AgentDefinition | undefined): LeftTools => {
  if (agent === undefined) return { tools: all, notices: [] };
  const { tools: listed = ['*'], disallowedTools, limits, denials, path, warnings } = agent;
  const unknown = listed.filter(
    (entry) => !entry.endsWith('*') && !all.some(({ name }) => namesTool(entry, name)),
  );
  // A session that is resumed no longer knows its definition, only which tools it was shown.
  const partly = [...limits, ...denials];
  const forbidden = [...disallowedTools, ...partly.map((text) => text.replace(/\(.*$/s, ''))];
  const goesWithout = (entries: readonly string[], what: string) =>
    entries.length === 0
      ? []
      : [`${path} lists ${what}, so the agent goes without: ${entries.join(', ')}.`];
  return {
    tools: all.filter((tool) => givesTool({ tools: listed, disallowedTools: forbidden }, tool)),
    notices: [
      ...warnings,
      ...goesWithout(unknown, 'tools that are not here'),
      ...goesWithout(partly, 'parts of tools, which a lead cannot have'),
    ],
  };
};

/** A person's word and the policy's go before that of the agent's file, and that before settings. */
export const modelFor = (
  { model }: Pick<LoadedSettings, 'model'>,
  agent: AgentDefinition | undefined,
): string | undefined =>
  isTyped(model?.source) || model?.source === 'policy'
    ? model?.value
    : (agent?.model ?? model?.value);

/** The same from the sources and from what the build makes of them. */
const packageFolder = (): string | undefined => {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
};
