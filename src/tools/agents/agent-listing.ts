/** The agents that can be asked for, as the model reads of them in the prompt of Task. */
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';

const MOST_AGENTS = 40;
const MOST_CHARACTERS = 4_000;
/** Of one description: some people write pages. */
const LONGEST = 300;

/** A line each, in the order given; says how many are left out. */
export const agentListing = (
  definitions: readonly Pick<AgentDefinition, 'name' | 'description'>[],
): string => {
  const lines: string[] = [];
  let room = MOST_CHARACTERS;
  for (const { name, description } of definitions.slice(0, MOST_AGENTS)) {
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
  if (text.length <= LONGEST) return text;
  // Half of a pair is no character.
  return `${text.slice(0, LONGEST - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
};
