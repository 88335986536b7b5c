/** An agent that somebody describes in a Markdown file: read, or a sentence about what to mend. */
import { basename } from 'node:path';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import type { UnusableAgent } from './agent-catalog.js';
import { parseAgent } from './agent-definition.js';
import { type PromptFolder, readPromptFile } from './prompt-files.js';

/** Undefined when there is no such file any more. */
export const readAgentFile = (
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
