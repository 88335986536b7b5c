/** A section of a head that was kept, in its own words. */
import type { HeadSection, PromptHead } from '../protocol/prompt.js';
import type { WireBlock } from '../protocol/wire.js';

/** By name; the blocks are read once. */
export const sectionTexts = ({ system, sections }: PromptHead): ReadonlyMap<string, string> => {
  const blocks = JSON.parse(system) as WireBlock[];
  const textOf = ({ block, start, end }: HeadSection) =>
    String(blocks[block]?.text ?? '').slice(start, end);
  return new Map(sections.map((section) => [section.name, textOf(section)]));
};
