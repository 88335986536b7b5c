/** The agents that people describe in Markdown files: found, read and chosen by name. */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { AgentDefinition } from '../protocol/agent-definition.js';
import { UsageError } from '../protocol/errors.js';
import { parseAgent } from './agent-definition.js';
import { nearest } from './nearest-word.js';
import {
  type PromptFolder,
  type PromptPlaces,
  promptFolders,
  readPromptFile,
} from './prompt-files.js';

export interface AgentFiles {
  /** One for each name, from the strongest place that has it; by name. */
  readonly agents: readonly AgentDefinition[];
  /** Those that no usable one of a stronger place stands before. */
  readonly unusable: readonly UnusableAgent[];
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

const MOST_FILES = 200;

export const readAgents = (places: PromptPlaces): AgentFiles => {
  const agents = new Map<string, AgentDefinition>();
  const unusable: UnusableAgent[] = [];
  const warnings: string[] = [];
  for (const folder of promptFolders('agents', places)) {
    const names = markdownFiles(folder.path);
    if (names.length > MOST_FILES) {
      warnings.push(`${folder.path} has ${names.length} agents; the first ${MOST_FILES} are read.`);
    }
    for (const name of names.slice(0, MOST_FILES)) {
      const read = readAgent(join(folder.path, name), folder);
      if (read === undefined) continue;
      if (!agents.has(read.name)) {
        if ('problem' in read) unusable.push(read);
        else agents.set(read.name, read);
      } else if ('problem' in read) warnings.push(read.problem);
      else if (agents.get(read.name)?.source === read.source) {
        const other = agents.get(read.name)?.path;
        warnings.push(`${read.path} is ignored: ${other} describes ${read.name} already.`);
      }
    }
  }
  const byName = [...agents.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { agents: byName, unusable, warnings };
};

/** Throws a UsageError that lists the agents there are, or says what to mend in its file. */
export const resolveAgent = (name: string, places: PromptPlaces): AgentDefinition => {
  const { agents, unusable } = readAgents(places);
  // A broken file must not give way to a weaker one that happens to work.
  const broken = unusable.find((it) => it.name === name);
  if (broken !== undefined) throw new UsageError(broken.problem);
  const found = agents.find((agent) => agent.name === name);
  if (found !== undefined) return found;
  const names = agents.map((agent) => agent.name);
  if (names.length === 0) {
    const [folder] = promptFolders('agents', places);
    throw new UsageError(`There is no agent "${name}": describe it in ${folder?.path}/${name}.md.`);
  }
  const meant = nearest(name, names);
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  const some = names.slice(0, MOST_NAMES).join(', ');
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  throw new UsageError(`There is no agent "${name}".${hint} The agents are: ${some}${more}.`);
};

const MOST_NAMES = 20;

const readAgent = (
  path: string,
  folder: PromptFolder,
): AgentDefinition | UnusableAgent | undefined => {
  const file = readPromptFile(path, folder);
  if (file === undefined) return undefined;
  const name = basename(path, '.md');
  if ('trouble' in file) return { name, path, problem: `${path} ${file.trouble}.` };
  const parsed = parseAgent(file.text, { path, source: folder.source });
  if (!('fix' in parsed)) return parsed;
  const problem = `${path} does not describe an agent, at line ${parsed.line}: ${parsed.fix}.`;
  return { name: parsed.name ?? name, path, problem };
};

const markdownFiles = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder)
      .filter((name) => /^[^.].*\.md$/.test(name))
      .sort();
  } catch {
    return [];
  }
};
