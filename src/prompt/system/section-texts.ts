/** Reads the section texts of a stored prompt head. */
import type { HeadSection, PromptHead } from '../../protocol/model/prompt-head.js';

/** Returns the texts by section name. The result is cached, because many agents share a head. */
export const sectionTexts = (head: PromptHead): ReadonlyMap<string, string> => {
  const texts = textsByHead.get(head) ?? read(head);
  textsByHead.set(head, texts);
  return texts;
};

const textsByHead = new WeakMap<PromptHead, ReadonlyMap<string, string>>();

const read = ({ system, sections }: PromptHead): ReadonlyMap<string, string> => {
  const blocks = JSON.parse(system) as { readonly text?: string }[];
  const textOf = ({ block, start, end }: HeadSection) =>
    (blocks[block]?.text ?? '').slice(start, end);
  return new Map(sections.map((section) => [section.name, textOf(section)]));
};
