/** Parses an agent file: settings in the front matter, the prompt below. */
import { splitFrontMatter } from '../../lib/text/split-front-matter.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import type { JsonObject } from '../json/settings-document.js';
import { AGENT_NAME, readAgentFields } from './agent-fields.js';
import { parseAgentFrontMatter } from './agent-front-matter.js';

interface InvalidAgent {
  readonly name?: string;
  /** Counts from 1. */
  readonly line: number;
  /** Imperative clause without a full stop. */
  readonly fix: string;
}

/** Returns undefined if the text is no agent: a document without front matter, or without any field of an agent. */
export const parseAgentDefinition = (
  text: string,
  { path, source }: Pick<AgentDefinition, 'path' | 'source'>,
): AgentDefinition | InvalidAgent | undefined => {
  const { head, body } = splitAgentFile(text);
  if (head === undefined) {
    if (!STARTS_LIKE_AGENT.test(text)) return undefined;
    return { line: 1, fix: 'begin with a line ---, then name and description, then a line ---' };
  }
  const front = parseAgentFrontMatter(head, FILE_KEYS);
  if ('fix' in front) return front;
  const { fields, lineOf, mistake } = front;
  if (!FILE_KEYS.some((key) => Object.hasOwn(fields, key))) return undefined;
  const name = nameOf(fields);
  if (name === undefined) return { line: lineOf('name'), fix: NAME };
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
  const warnings = [...read.warnings];
  if (name !== fields.name) {
    warnings.unshift(
      `The agent of ${path} is called ${name}, because a name has no blanks and slashes.`,
    );
  }
  if (mistake !== undefined) {
    warnings.unshift(
      `${path} is not valid YAML at line ${mistake.line} and was read line by line: ${mistake.fix}.`,
    );
  }
  return { ...read, warnings, name, prompt, path, source };
};

/** Writes a hyphen for blanks and slashes between words. Returns undefined if the name cannot be used. */
const nameOf = ({ name }: JsonObject): string | undefined => {
  if (typeof name !== 'string') return undefined;
  const hyphened = name.trim().replaceAll(/[ /]+/g, '-');
  return AGENT_NAME.test(hyphened) ? hyphened : undefined;
};

/** Splits the file. A longer line of dashes closes the front matter of an agent if no line `---` does. */
const splitAgentFile = (text: string): ReturnType<typeof splitFrontMatter> => {
  const parts = splitFrontMatter(text);
  return parts.head === undefined && STARTS_LIKE_AGENT.test(text)
    ? splitFrontMatter(text.replace(LONG_DASHES, '---'))
    : parts;
};

const STARTS_LIKE_AGENT = /^---[ \t]*\n(?:[ \t]*(?:#.*)?\n)*(?:name|description)[ \t]*:/;
const LONG_DASHES = /^-{4,}[ \t]*$/m;

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
