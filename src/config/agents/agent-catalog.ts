/**
 * Catalog of the agent definitions of the command line, the project, the user and the package.
 *
 * The file parser is loaded only if there are files to parse.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { didYouMean } from '../../lib/text/did-you-mean.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { findAgentFiles } from './find-agent-files.js';
import { type PromptFolder, type PromptSources, promptFolders } from './prompt-file.js';

export interface AgentCatalog {
  /** Usable definitions, sorted by name. If several sources have a name, the strongest source counts. */
  readonly agents: readonly AgentDefinition[];
  /** Definitions with mistakes. They hide usable definitions of the same name in weaker sources. */
  readonly unusable: readonly UnusableAgent[];
  /** Agents of an untrusted workspace with fields that do not apply. */
  readonly withheld: readonly WithheldFields[];
  /** Sentences for people about ignored files. */
  readonly warnings: readonly string[];
}

export interface WithheldFields {
  readonly agent: string;
  /** Names of the fields that would have an effect in a trusted workspace. */
  readonly fields: readonly string[];
}

export interface UnusableAgent {
  /** Name in the definition, or the file name if that cannot be read. */
  readonly name: string;
  readonly path: string;
  /** Sentence that names the file, the line and the fix. */
  readonly problem: string;
}

export type AgentSources = PromptSources & {
  /** Definitions of `--agents`. Default: none. */
  readonly ofCommand?: readonly AgentDefinition[];
};

export const readAgentCatalog = async (sources: AgentSources): Promise<AgentCatalog> => {
  const folders = await searchedFolders(sources);
  const files = folders.some(({ paths }) => paths.length > 0)
    ? await import('./read-agent-file.js')
    : undefined;
  const byName = new Map<string, AgentDefinition | UnusableAgent>();
  const warnings: string[] = [];
  const withheld = new Map<AgentDefinition, WithheldFields>();
  const add = (found: AgentDefinition | UnusableAgent) => {
    const before = byName.get(found.name);
    if (before === undefined) byName.set(found.name, found);
    else if ('problem' in found) warnings.push(found.problem);
    else if ('problem' in before || before.source === found.source) {
      warnings.push(`${found.path} is ignored: ${before.path} already describes ${found.name}.`);
    }
  };
  for (const agent of sources.ofCommand ?? []) add(agent);
  for (const folder of folders) {
    if (isBuiltIn(folder)) for (const agent of builtInAgents(folder.path)) add(agent);
    warnings.push(...folder.warnings);
    for (const path of folder.paths) {
      const read = files?.readAgentFile(path, folder);
      if (read === undefined) continue;
      const permitted = 'problem' in read || sources.isTrusted ? read : restricted(read);
      if (!('problem' in read) && !('problem' in permitted)) {
        const fields = withheldFields(read, permitted);
        if (fields.length > 0) withheld.set(permitted, { agent: read.name, fields });
      }
      add(permitted);
    }
  }
  const all = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const agents = all.filter((agent): agent is AgentDefinition => !('problem' in agent));
  return {
    agents,
    withheld: agents.flatMap((agent) => withheld.get(agent) ?? []),
    unusable: all.filter((agent): agent is UnusableAgent => 'problem' in agent),
    warnings,
  };
};

type SearchedFolder = PromptFolder & ReturnType<typeof findAgentFiles>;

/** Returns the folders with the paths of their files. */
const searchedFolders = async (sources: AgentSources): Promise<readonly SearchedFolder[]> => {
  const folders = promptFolders('agents', sources);
  const present = folders.filter((folder) => !isBuiltIn(folder) && existsSync(folder.path));
  const search = present.length === 0 ? undefined : await import('./find-agent-files.js');
  return folders.map((folder) => {
    const found = present.includes(folder) ? search?.findAgentFiles(folder) : undefined;
    return { ...folder, paths: found?.paths ?? [], warnings: found?.warnings ?? [] };
  });
};

/** Returns the agent of this name, or a sentence that lists the known agents or says what to fix. */
export const findAgentDefinition = (
  name: string,
  { agents, unusable }: Pick<AgentCatalog, 'agents' | 'unusable'>,
): AgentDefinition | { readonly problem: string } => {
  const broken = unusable.find((agent) => agent.name === name);
  if (broken !== undefined) return { problem: broken.problem };
  const found = agents.find((agent) => agent.name === name);
  if (found !== undefined) return found;
  const names = agents.map((agent) => agent.name);
  const suggestion = didYouMean(name, names);
  const hint = suggestion === undefined ? '' : ` Did you mean ${suggestion}?`;
  const listed = names.slice(0, MAX_LISTED_NAMES).join(', ');
  const more =
    names.length > MAX_LISTED_NAMES ? ` and ${names.length - MAX_LISTED_NAMES} more` : '';
  const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name;
  const list = names.length === 0 ? 'No agents are defined.' : `The agents are: ${listed}${more}.`;
  return { problem: `There is no agent "${shown}".${hint} ${list}` };
};

/** Rejects with UsageError if there is no usable agent of this name. */
export const resolveAgent = async (
  name: string,
  sources: AgentSources,
): Promise<AgentDefinition> => {
  const catalog = await readAgentCatalog(sources);
  const found = findAgentDefinition(name, catalog);
  if (!('problem' in found)) return found;
  const [folder] = promptFolders('agents', sources);
  const isNew = /^[\w.-]+$/.test(name) && !catalog.unusable.some((agent) => agent.name === name);
  const where = isNew ? ` Describe it in ${folder?.path}/${name}.md.` : '';
  throw new UsageError(`${found.problem}${catalog.agents.length === 0 ? where : ''}`);
};

const MAX_LISTED_NAMES = 20;

/** Removes the fields that could cost money, run code or avoid questions from an agent of an untrusted workspace. */
const restricted = (agent: AgentDefinition): AgentDefinition => {
  if (agent.source !== 'project') return agent;
  const { model: _model, permissionMode: _mode, ...rest } = agent;
  return { ...rest, hooks: [], mcpServers: [] };
};

/** MCP servers are not listed, because no servers are started in a trusted workspace either. */
const withheldFields = (read: AgentDefinition, permitted: AgentDefinition): readonly string[] => [
  ...(read.model === permitted.model ? [] : ['model']),
  ...(read.permissionMode === permitted.permissionMode ? [] : ['permissionMode']),
  ...(read.hooks.length === permitted.hooks.length ? [] : ['hooks']),
];

/** Agents of the package, parsed by the build. Undefined when Skein runs from its sources. */
declare const BUILTIN_AGENTS:
  | readonly (Omit<AgentDefinition, 'path'> & { readonly file: string })[]
  | undefined;

const builtin = typeof BUILTIN_AGENTS === 'undefined' ? undefined : BUILTIN_AGENTS;

const isBuiltIn = ({ source }: PromptFolder) => source === 'builtin' && builtin !== undefined;

const builtInAgents = (folder: string): readonly AgentDefinition[] =>
  (builtin ?? []).map(({ file, ...agent }) => ({ ...agent, path: join(folder, file) }));
