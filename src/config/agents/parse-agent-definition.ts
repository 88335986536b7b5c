/** Parses an agent file: settings in the front matter, the prompt below. */
import { splitFrontMatter } from '../../lib/text/split-front-matter.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import { AGENT_NAME, readAgentFields } from './agent-fields.js';
import { parseAgentFrontMatter } from './agent-front-matter.js';

interface InvalidAgent {
  readonly name?: string;
  /** Counts from 1. */
  readonly line: number;
  /** Imperative clause without a full stop. */
  readonly fix: string;
}

export const parseAgentDefinition = (
  text: string,
  { path, source }: Pick<AgentDefinition, 'path' | 'source'>,
): AgentDefinition | InvalidAgent => {
  const { head, body } = splitFrontMatter(text);
  if (head === undefined) {
    return { line: 1, fix: 'begin with a line ---, then name and description, then a line ---' };
  }
  const front = parseAgentFrontMatter(head);
  if ('fix' in front) return front;
  const { fields, lineOf } = front;
  const { name } = fields;
  if (typeof name !== 'string' || !AGENT_NAME.test(name))
    return { line: lineOf('name'), fix: NAME };
  const read = readAgentFields(fields, {
    path,
    lineOf: (at) => lineOf(...at),
    knownFields: FILE_KEYS,
  });
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
