/**
 * All agents that can be asked for by name: of the command, of the project, of the user and of the
 * package. The parser of files is loaded only where there are files.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import { UsageError } from '../../protocol/errors.js';
import { nearest } from '../json/did-you-mean.js';
import { type PromptFolder, type PromptPlaces, promptFolders } from './prompt-files.js';

export interface AgentRoster {
  /** One for each name, from the strongest place that has it; by name. */
  readonly agents: readonly AgentDefinition[];
  /** Those that no usable one of a stronger place stands before. They hide weaker ones. */
  readonly unusable: readonly UnusableAgent[];
  /** Those of a workspace that nobody trusts, of which not all applies. */
  readonly withheld: readonly string[];
  /** Sentences for people about what was left out. */
  readonly warnings: readonly string[];
}

export interface UnusableAgent {
  /** What it is called, or would be by its file. */
  readonly name: string;
  readonly path: string;
  /** A sentence with the file, the line and what to do. */
  readonly problem: string;
}

export type RosterPlaces = PromptPlaces & {
  /** Those of `--agents`, read already. */
  readonly ofCommand?: readonly AgentDefinition[];
};

const MOST_FILES = 200;

export const readRoster = async (places: RosterPlaces): Promise<AgentRoster> => {
  const folders = promptFolders('agents', places).map((folder) => ({
    ...folder,
    names: isPrepared(folder) ? [] : markdownFiles(folder.path),
  }));
  const files = folders.some(({ names }) => names.length > 0)
    ? await import('./agent-files.js')
    : undefined;
  const known = new Map<string, AgentDefinition | UnusableAgent>();
  const warnings: string[] = [];
  const withheld = new Set<AgentDefinition>();
  const take = (found: AgentDefinition | UnusableAgent) => {
    const before = known.get(found.name);
    if (before === undefined) known.set(found.name, found);
    else if ('problem' in found) warnings.push(found.problem);
    else if ('problem' in before || before.source === found.source) {
      warnings.push(`${found.path} is ignored: ${before.path} describes ${found.name} already.`);
    }
  };
  for (const agent of places.ofCommand ?? []) take(agent);
  for (const folder of folders) {
    const { path, names } = folder;
    if (isPrepared(folder)) for (const agent of preparedIn(path)) take(agent);
    if (names.length > MOST_FILES) {
      warnings.push(`${path} has ${names.length} agents; the first ${MOST_FILES} are read.`);
    }
    for (const name of names.slice(0, MOST_FILES)) {
      const read = files?.readAgentFile(join(path, name), folder);
      if (read === undefined) continue;
      const left = 'problem' in read || places.isTrusted ? read : restricted(read);
      if (left !== read && !('problem' in left)) withheld.add(left);
      take(left);
    }
  }
  const all = [...known.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const agents = all.filter((it): it is AgentDefinition => !('problem' in it));
  return {
    agents,
    withheld: agents.filter((agent) => withheld.has(agent)).map(({ name }) => name),
    unusable: all.filter((it): it is UnusableAgent => 'problem' in it),
    warnings,
  };
};

/** The one of this name, or a sentence that lists those there are or says what to mend. */
export const findAgent = (
  name: string,
  { agents, unusable }: Pick<AgentRoster, 'agents' | 'unusable'>,
): AgentDefinition | { readonly problem: string } => {
  const broken = unusable.find((it) => it.name === name);
  if (broken !== undefined) return { problem: broken.problem };
  const found = agents.find((agent) => agent.name === name);
  if (found !== undefined) return found;
  const names = agents.map((agent) => agent.name);
  const meant = nearest(name, names);
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  const some = names.slice(0, MOST_NAMES).join(', ');
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name;
  const list = names.length === 0 ? 'There are none.' : `The agents are: ${some}${more}.`;
  return { problem: `There is no agent "${shown}".${hint} ${list}` };
};

/** Throws a UsageError instead of a sentence. */
export const resolveAgent = async (
  name: string,
  places: RosterPlaces,
): Promise<AgentDefinition> => {
  const roster = await readRoster(places);
  const found = findAgent(name, roster);
  if (!('problem' in found)) return found;
  const [folder] = promptFolders('agents', places);
  const isNew = /^[\w.-]+$/.test(name) && !roster.unusable.some((it) => it.name === name);
  const where = isNew ? ` Describe it in ${folder?.path}/${name}.md.` : '';
  throw new UsageError(`${found.problem}${roster.agents.length === 0 ? where : ''}`);
};

const MOST_NAMES = 20;

/** Words are free; what costs money, runs code or asks less is not for a workspace that nobody trusts. */
const restricted = (agent: AgentDefinition): AgentDefinition => {
  if (agent.source !== 'project') return agent;
  const { model, permissionMode, hooks, mcpServers, ...rest } = agent;
  const withheld = [
    ...(model === undefined ? [] : [`model ${model}`]),
    ...(permissionMode === undefined ? [] : [`permissionMode ${permissionMode}`]),
    ...(hooks.length === 0 ? [] : ['hooks']),
    ...(mcpServers.length === 0 ? [] : ['mcpServers']),
  ];
  if (withheld.length === 0) return agent;
  const verb = withheld.length === 1 && hooks.length + mcpServers.length === 0 ? 'does' : 'do';
  const warning = `The workspace is not trusted, so the ${withheld.join(', ')} of ${agent.path} ${verb} not apply; run skein trust or pass --trust.`;
  return { ...rest, hooks: [], mcpServers: [], warnings: [...agent.warnings, warning] };
};

/** The package's own, as the build has read them; undefined when nothing was built. */
declare const BUILTIN_AGENTS:
  | readonly (Omit<AgentDefinition, 'path'> & { readonly file: string })[]
  | undefined;

const prepared = typeof BUILTIN_AGENTS === 'undefined' ? undefined : BUILTIN_AGENTS;

const isPrepared = ({ source }: PromptFolder) => source === 'builtin' && prepared !== undefined;

const preparedIn = (folder: string): readonly AgentDefinition[] =>
  (prepared ?? []).map(({ file, ...agent }) => ({ ...agent, path: join(folder, file) }));

const markdownFiles = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder)
      .filter((name) => /^[^.].*\.md$/.test(name))
      .sort();
  } catch {
    return [];
  }
};
