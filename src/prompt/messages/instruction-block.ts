/** Instructions from files, each with its origin, as the model reads them; and which go first when there are too many. */
import { MEMORY_LABELS, type MemoryFile, type MemoryLayer } from '../../protocol/tools/memory.js';
import { inQuotes, shortPath, withoutTags } from './quote-text.js';

export interface InstructionBlock {
  readonly source: MemoryLayer;
  readonly path: string;
  /** The file that includes it. */
  readonly parent: string | null;
  /** The higher one stays when there is no room for all. */
  readonly priority: number;
  readonly text: string;
}

/** Who keeps room to the last: what anybody may have put into a workspace goes before one's own. */
const TRIMMED_FIRST: readonly MemoryLayer[] = [
  'team' as const,
  'project' as const,
  'local' as const,
  'auto' as const,
  'user' as const,
  'managed' as const,
];

/** Within a layer what is nearer to the work weighs more. */
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
  const from = parent === null ? '' : ` included-by="${inQuotes(shortPath(parent))}"`;
  return `<instructions source="${source}" path="${inQuotes(shortPath(path))}"${from}>
(${MEMORY_LABELS[source]})
${withoutTags(text.trim())}
</instructions>`;
};

export const ruleText = ({ layer, path, parent, text }: MemoryFile): string =>
  instructionText({ source: layer, path, parent, text });

export interface Trimmed {
  readonly kept: readonly InstructionBlock[];
  readonly dropped: readonly InstructionBlock[];
}

/** Leaves out whole blocks, those of the weakest source first, until the rest has room as it is told. */
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
