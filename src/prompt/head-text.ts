/** A section of a head that was kept, in its own words. */
import type { HeadSection, PromptHead } from '../protocol/prompt.js';

/** By name; the blocks are read once. */
export const sectionTexts = ({ system, sections }: PromptHead): ReadonlyMap<string, string> => {
  const blocks = JSON.parse(system) as { readonly text?: string }[];
  const textOf = ({ block, start, end }: HeadSection) =>
    (blocks[block]?.text ?? '').slice(start, end);
  return new Map(sections.map((section) => [section.name, textOf(section)]));
};
