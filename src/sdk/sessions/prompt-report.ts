/** Prompt report of a new session: source and size of each block, and the cache breakpoints. */

import { tokensOfText } from '../../context/window/text-weight.js';
import { asText } from '../../lib/text/as-text.js';
import { shapeDigest } from '../../prompt/cache-miss/request-shape.js';
import { bodyHead } from '../../prompt/request/request-body.js';
import type { PreambleFile } from '../../protocol/model/context-provider.js';
import type { CacheTtl, HeadSection, Zone } from '../../protocol/model/prompt-head.js';
import { rawText, type WireBlock } from '../../protocol/model/wire-block.js';
import type { DryRunPrompt } from './dry-run-prompt.js';

/** Cache breakpoint: the server may cache the prompt up to the end of this block. */
export interface PromptMark {
  readonly ttl: CacheTtl;
  /** Null if only the organisation can read the cache entry. */
  readonly scope: string | null;
}

interface Measured {
  /** Estimated tokens, at four bytes per token. */
  readonly tokens: number;
  /** Start of the SHA-256, to compare two prompts. */
  readonly digest: string;
}

export interface PromptTool extends Measured {
  readonly name: string;
  readonly mark: PromptMark | null;
  /** Tool definition as sent to the server. */
  readonly text: string;
}

export interface PromptSection extends Measured {
  readonly name: string;
  readonly zone: Zone;
  readonly source: string;
  readonly path: string | null;
  /** Reason why the text may change between turns, or null if it never does. */
  readonly mayChange: string | null;
  readonly text: string;
}

export interface PromptReportBlock extends Measured {
  /** Position in the system prompt, from 1. */
  readonly block: number;
  /** Zones of its sections. */
  readonly zones: readonly Zone[];
  readonly mark: PromptMark | null;
  readonly sections: readonly PromptSection[];
  readonly text: string;
}

export interface PromptReport {
  readonly cwd: string;
  readonly model: string;
  readonly agent: string | null;
  readonly ttl: CacheTtl;
  /** Tools. A server reads tools first, then the system prompt, then messages. */
  readonly tools: readonly PromptTool[];
  readonly system: readonly PromptReportBlock[];
  /** Preamble of the first message: instruction files and the date. */
  readonly opening: Measured & {
    readonly mark: PromptMark | null;
    readonly text: string;
    readonly files: readonly (Omit<PreambleFile, 'text'> & Measured)[];
  };
  /** Cache breakpoints of head and preamble, in order. Each request has two more in its messages. */
  readonly marks: readonly (PromptMark & { readonly after: string; readonly tokens: number })[];
  readonly tokens: {
    readonly tools: number;
    readonly system: number;
    readonly opening: number;
    /** Tools and the zones that are the same for all users. */
    readonly shared: number;
    readonly all: number;
  };
  readonly notices: readonly string[];
}

export const promptReport = (prompt: DryRunPrompt, agent: string | null): PromptReport => {
  const { cwd, model, head, preamble, capabilities, notices } = prompt;
  const tools = (JSON.parse(head.tools) as readonly WireBlock[]).map(toolOf);
  const blocks = JSON.parse(head.system) as readonly WireBlock[];
  const system = blocks.map((block, index) => blockOf(block, index, head.sections));
  const preambleText = preamble.text === '' ? '' : rawText(preamble.text);
  const tokens = {
    tools: tokensOfText(head.tools),
    system: tokensOfText(head.system),
    opening: tokensOfText(preambleText),
  };
  const { breakpoint, marksPreamble } = bodyHead({ model, maxTokens: 0 }, head, capabilities);
  const openingMark =
    marksPreamble && breakpoint.length > 0 && preambleText !== ''
      ? { ttl: head.ttl, scope: null }
      : null;
  const shared = system
    .flatMap(({ sections }) => sections)
    .filter(({ zone }) => zone === 'identity' || zone === 'static')
    .reduce((sum, section) => sum + section.tokens, tokens.tools);
  return {
    cwd,
    model,
    agent,
    ttl: head.ttl,
    tools,
    system,
    opening: {
      mark: openingMark,
      tokens: tokens.opening,
      digest: shapeDigest(preamble.text),
      text: preamble.text,
      files: (preamble.files ?? []).map(({ text, ...file }) => ({ ...file, ...measure(text) })),
    },
    marks: marksOf([
      ...tools.map((tool) => ({ ...tool, after: `tool ${tool.name}` })),
      ...system.map((block) => ({ ...block, after: `system block ${block.block}` })),
      { mark: openingMark, tokens: tokens.opening, after: 'the opening' },
    ]),
    tokens: { ...tokens, shared, all: tokens.tools + tokens.system + tokens.opening },
    notices,
  };
};

const toolOf = (tool: WireBlock): PromptTool => {
  const { cache_control, ...rest } = tool;
  const text = JSON.stringify(rest);
  return { name: asText(tool.name), ...measure(text), mark: markOf(cache_control), text };
};

const blockOf = (
  { cache_control, ...rest }: WireBlock,
  index: number,
  all: readonly HeadSection[],
): PromptReportBlock => {
  const text = asText(rest.text);
  const sections = all
    .filter(({ block }) => block === index)
    .map((section) => sectionOf(section, text));
  return {
    block: index + 1,
    zones: [...new Set(sections.map(({ zone }) => zone))],
    mark: markOf(cache_control),
    tokens: tokensOfText(text),
    digest: shapeDigest(JSON.stringify(rest)),
    sections,
    text,
  };
};

const sectionOf = (section: HeadSection, whole: string): PromptSection => {
  const { name, zone, source, path = null, mayChange = null, start, end } = section;
  const text = whole.slice(start, end);
  return { name, zone, source, path, mayChange, ...measure(text), text };
};

/** Returns each breakpoint with the estimated tokens up to it. */
const marksOf = (
  parts: readonly {
    readonly mark: PromptMark | null;
    readonly tokens: number;
    readonly after: string;
  }[],
): PromptReport['marks'] => {
  let tokens = 0;
  return parts.flatMap(({ mark, after, tokens: own }) => {
    tokens += own;
    return mark === null ? [] : [{ ...mark, after, tokens }];
  });
};

const markOf = (control: unknown): PromptMark | null => {
  if (typeof control !== 'object' || control === null) return null;
  const { ttl, scope } = control as { readonly ttl?: unknown; readonly scope?: unknown };
  return { ttl: ttl === '1h' ? '1h' : '5m', scope: typeof scope === 'string' ? scope : null };
};

const measure = (text: string): Measured => ({
  tokens: tokensOfText(text),
  digest: shapeDigest(text),
});
