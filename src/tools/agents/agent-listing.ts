/** Agent listing: the available agent types, as the description of Task lists them. */
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';

const MAX_AGENTS = 40;
const MAX_CHARACTERS = 4_000;
const MAX_DESCRIPTION_LENGTH = 300;

/** Returns a line per agent, in the given order, and the number of omitted agents. */
export const agentListing = (
  definitions: readonly Pick<AgentDefinition, 'name' | 'description'>[],
): string => {
  const lines: string[] = [];
  let room = MAX_CHARACTERS;
  for (const { name, description } of definitions.slice(0, MAX_AGENTS)) {
    const line = `- ${name}: ${oneLine(description)}`;
    if (line.length + 1 > room) break;
    lines.push(line);
    room -= line.length + 1;
  }
  const left = definitions.length - lines.length;
  return [...lines, ...(left === 0 ? [] : [`- and ${left} more that are not listed here`])].join(
    '\n',
  );
};

const oneLine = (description: string): string => {
  const text = description.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  if (text.length <= MAX_DESCRIPTION_LENGTH) return text;
  // Do not split a surrogate pair.
  return `${text.slice(0, MAX_DESCRIPTION_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
};
