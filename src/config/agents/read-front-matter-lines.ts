/** Reads front matter that is not valid YAML line by line: `key: rest of line`. */
import type { JsonObject } from '../json/settings-document.js';
import type { AgentFrontMatter, FrontMatterMistake } from './agent-front-matter.js';

/** A key with its line and the lines up to the next key. */
interface Block {
  readonly key: string;
  /** Counts from 1 at the beginning of the file. */
  readonly line: number;
  /** Text after the colon. */
  readonly rest: string;
  readonly more: string[];
}

type ParseYaml = (text: string) => { readonly fields: JsonObject } | FrontMatterMistake;

/**
 * Parses each key with its value alone, and takes a value that is not valid YAML as text. A known field
 * whose value has several lines is a mistake then, except `description`, because a part of a list of tools
 * or of hooks would change the rights of the agent.
 */
export const readFrontMatterLines = (
  head: string,
  knownFields: readonly string[],
  parseYaml: ParseYaml,
): AgentFrontMatter => {
  const blocks = new Map<string, Block>();
  for (const block of blocksOf(head, knownFields)) {
    const before = blocks.get(block.key);
    if (before === undefined) blocks.set(block.key, block);
    else if (isStrict(block, knownFields) && sourceOf(block) !== sourceOf(before)) {
      return { line: block.line, fix: 'keep one of the two lines with this name' };
    }
  }
  const values = new Map<string, unknown>();
  for (const block of blocks.values()) {
    const { key, line, rest, more } = block;
    const parsed = parseYaml(sourceOf(block));
    if (!('fix' in parsed) && Object.hasOwn(parsed.fields, key))
      values.set(key, parsed.fields[key]);
    else if (isStrict(block, knownFields) && more.some((text) => text.trim() !== '')) {
      const mistake = 'fix' in parsed ? parsed : { line: 2, fix: 'write "name: value"' };
      return { line: line + mistake.line - 2, fix: mistake.fix };
    } else {
      const indented = more.findIndex((text) => hasIndentedField(text, knownFields));
      if (indented >= 0 && knownFields.includes(key)) {
        return { line: line + 1 + indented, fix: 'remove the blanks at the beginning of the line' };
      }
      values.set(key, unquoted([rest, ...more].join('\n').trim()));
    }
  }
  return {
    fields: Object.fromEntries(values) as JsonObject,
    lineOf: (key) => blocks.get(String(key))?.line ?? 1,
  };
};

const KEY = /^([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?$/;
/** A known field may have no blank after its colon. */
const KNOWN_KEY = /^([A-Za-z]+)[ \t]*:[ \t]*(.*)$/;

/**
 * Lines above the first key belong to no block. A description of several lines ends at the next known field,
 * because its examples have lines such as `user: …`.
 */
const blocksOf = (head: string, knownFields: readonly string[]): readonly Block[] => {
  const blocks: Block[] = [];
  for (const [index, text] of head.split('\n').entries()) {
    const last = blocks.at(-1);
    const isExample = last?.key === 'description' && last.more.length > 0;
    const known = KNOWN_KEY.exec(text);
    const isKnown = known !== null && knownFields.includes(known[1] ?? '');
    const found = isKnown ? known : isExample ? null : KEY.exec(text);
    if (found === null) last?.more.push(text);
    else blocks.push({ key: found[1] ?? '', line: index + 2, rest: found[2] ?? '', more: [] });
  }
  return blocks;
};

const isStrict = ({ key }: Block, knownFields: readonly string[]) =>
  key !== 'description' && knownFields.includes(key);

/** True for a line such as `  disallowedTools: Bash`, which must not become a part of a description. */
const hasIndentedField = (text: string, knownFields: readonly string[]): boolean => {
  const key = KNOWN_KEY.exec(text.trimStart())?.[1] ?? '';
  return knownFields.includes(key) && !['name', 'description', 'prompt'].includes(key);
};

const sourceOf = ({ key, rest, more }: Block) => [`${key}: ${rest}`, ...more].join('\n');

const unquoted = (text: string): string => /^(["'])(.*)\1$/s.exec(text)?.[2] ?? text;
