/** Reads an agent definition from a Markdown file. */
import { basename } from 'node:path';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import type { UnusableAgent } from './agent-catalog.js';
import { parseAgentDefinition } from './parse-agent-definition.js';
import { type PromptFolder, readPromptFile } from './prompt-file.js';

/** Returns undefined if the file does not exist or is no agent, such as a README. */
export const readAgentFile = (
  path: string,
  folder: PromptFolder,
): AgentDefinition | UnusableAgent | undefined => {
  const file = readPromptFile(path, folder);
  if (file === undefined) return undefined;
  if ('problem' in file && file.isDocument === true) return undefined;
  const name = basename(path, '.md');
  if ('problem' in file) return { name, path, problem: `${path} ${file.problem}.` };
  const parsed = parseAgentDefinition(file.text, { path, source: folder.source });
  if (parsed === undefined || !('fix' in parsed)) return parsed;
  const problem = `${path} does not describe an agent, at line ${parsed.line}: ${parsed.fix}.`;
  return { name: parsed.name ?? name, path, problem };
};
