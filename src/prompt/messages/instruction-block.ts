/** Instruction blocks: the text of instruction files with their origin, trimmed to a size. */
import { MEMORY_LABELS, type MemoryFile, type MemoryLayer } from '../../protocol/tools/memory.js';
import { escapeAttribute, escapeTags, shortPath } from '../escape-tags.js';

export interface InstructionBlock {
  readonly source: MemoryLayer;
  readonly path: string;
  /** The including file; null for a file that no other file includes. */
  readonly parent: string | null;
  /** Blocks of lower priority are dropped first. */
  readonly priority: number;
  readonly text: string;
}

/**
 * Layers in the order in which they are dropped: files of the workspace before the user's own
 * files.
 */
const TRIMMED_FIRST: readonly MemoryLayer[] = [
  'team' as const,
  'project' as const,
  'local' as const,
  'auto' as const,
  'user' as const,
  'managed' as const,
];

/**
 * Converts files to blocks. Within a layer, later files are nearer to the work and get a higher
 * priority.
 */
export const instructionBlocks = (files: readonly MemoryFile[]): readonly InstructionBlock[] =>
  files.map(({ layer, path, parent, text }, index) => ({
    source: layer,
    path,
    parent,
    text,
    priority: TRIMMED_FIRST.indexOf(layer) * files.length + index,
  }));

export const instructionText = ({
  source,
  path,
  parent,
  text,
}: Omit<InstructionBlock, 'priority'>): string => {
  const from = parent === null ? '' : ` included-by="${escapeAttribute(shortPath(parent))}"`;
  return `<instructions source="${source}" path="${escapeAttribute(shortPath(path))}"${from}>
(${MEMORY_LABELS[source]})
${escapeTags(text.trim())}
</instructions>`;
};

export const ruleText = ({ layer, path, parent, text }: MemoryFile): string =>
  instructionText({ source: layer, path, parent, text });

export interface Trimmed {
  readonly kept: readonly InstructionBlock[];
  readonly dropped: readonly InstructionBlock[];
}

/**
 * Drops whole blocks, lowest priority first, until the texts of the rest fit into `maxCharacters`.
 */
export const trimInstructions = (
  blocks: readonly InstructionBlock[],
  maxCharacters: number,
): Trimmed => {
  let room = maxCharacters;
  const kept = new Set<InstructionBlock>();
  for (const block of blocks.toSorted((a, b) => b.priority - a.priority)) {
    room -= instructionText(block).length;
    if (room < 0) break;
    kept.add(block);
  }
  return {
    kept: blocks.filter((block) => kept.has(block)),
    dropped: blocks.filter((block) => !kept.has(block)),
  };
};
