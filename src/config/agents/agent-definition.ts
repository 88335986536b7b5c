/** One agent as its file describes it: settings in the front matter, the prompt below. */

import { splitFrontMatter } from '../../lib/front-matter.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import { AGENT_NAME, readFields } from './agent-fields.js';
import { parseFrontMatter } from './agent-front-matter.js';

export interface BadAgent {
  readonly name?: string;
  readonly line: number;
  /** What to do, without a full stop. */
  readonly fix: string;
}

export const parseAgent = (
  text: string,
  { path, source }: Pick<AgentDefinition, 'path' | 'source'>,
): AgentDefinition | BadAgent => {
  const { head, body } = splitFrontMatter(text);
  if (head === undefined) {
    return { line: 1, fix: 'begin with a line ---, then name and description, then a line ---' };
  }
  const front = parseFrontMatter(head);
  if ('fix' in front) return front;
  const { fields, lineOf } = front;
  const { name } = fields;
  if (typeof name !== 'string' || !AGENT_NAME.test(name))
    return { line: lineOf('name'), fix: NAME };
  const read = readFields(fields, { path, lineOf: (at) => lineOf(...at), known: FILE_KEYS });
  if ('fix' in read) return { name, line: lineOf(...read.at), fix: read.fix };
  const prompt = body.trim();
  if (prompt === '') {
    const line = text.trimEnd().split('\n').length;
    return { name, line, fix: 'write the prompt of the agent below the second line ---' };
  }
  return { ...read, name, prompt, path, source };
};

const NAME = 'give it a name of letters, digits and hyphens, such as "name: reviewer"';

const FILE_KEYS = [
  'name',
  'description',
  'tools',
  'disallowedTools',
  'model',
  'permissionMode',
  'maxTurns',
  'maxBudgetUsd',
  'maxBudgetTokens',
  'skills',
  'mcpServers',
  'hooks',
  'background',
  'isolation',
  'color',
  'proactive',
  'prompt',
];
