/** Instructions from files, each with its origin, as the model reads them; and which go first when there are too many. */
import {
  type ConditionalRule,
  MEMORY_LAYERS,
  type MemoryFile,
  type MemoryLayer,
} from '../protocol/memory.js';
import { inQuotes, withoutTags } from './told-text.js';

export interface InstructionBlock {
  readonly source: MemoryLayer;
  readonly path: string;
  /** The file that includes it. */
  readonly parent: string | null;
  /** The higher one stays when there is no room for all. */
  readonly priority: number;
  readonly text: string;
}

const LABELS: Readonly<Record<MemoryLayer, string>> = {
  managed: 'instructions of whoever runs this machine, for everybody on it',
  user: "the user's own instructions, for all projects",
  project: 'instructions of the project, kept in its repository',
  local: "the user's own instructions for this project, not in its repository",
  auto: 'what agents noted in earlier sessions of this project',
  team: 'what the team shares with all its agents',
};

/** Later layers weigh more, and within a layer what is nearer to the work. */
export const instructionBlocks = (files: readonly MemoryFile[]): readonly InstructionBlock[] =>
  files.map(({ layer, path, parent, text }, index) => ({
    ...{ source: layer, path, parent, text },
    priority: MEMORY_LAYERS.indexOf(layer) * files.length + index,
  }));

export const instructionText = ({
  source,
  path,
  parent,
  text,
}: Omit<InstructionBlock, 'priority'>): string => {
  const from = parent === null ? '' : ` included-by="${inQuotes(parent)}"`;
  return `<instructions source="${source}" path="${inQuotes(path)}"${from}>
(${LABELS[source]})
${withoutTags(text.trim(), ['instructions'])}
</instructions>`;
};

export const ruleText = ({ layer, path, parent, text }: ConditionalRule): string =>
  instructionText({ source: layer, path, parent, text });

export interface Trimmed {
  readonly kept: readonly InstructionBlock[];
  readonly dropped: readonly InstructionBlock[];
}

/** Leaves out whole blocks, those of the weakest source first, until the rest has room. */
export const trimInstructions = (
  blocks: readonly InstructionBlock[],
  maxCharacters: number,
): Trimmed => {
  let room = maxCharacters;
  const kept = new Set<InstructionBlock>();
  for (const block of blocks.toSorted((a, b) => b.priority - a.priority)) {
    if (block.text.length > room) break;
    room -= block.text.length;
    kept.add(block);
  }
  return {
    kept: blocks.filter((block) => kept.has(block)),
    dropped: blocks.filter((block) => !kept.has(block)),
  };
};
