/** The prompt of a new session, block by block: where each came from, how large it is, where marks are. */
import { estimatedTokens } from '../../context/window/window-fill.js';
import { digestOf } from '../../prompt/cache-miss/request-shape.js';
import type { PreambleFile } from '../../protocol/model/context-provider.js';
import type { CacheTtl, HeadSection, Zone } from '../../protocol/model/prompt.js';
import { rawText, type WireBlock } from '../../protocol/model/wire.js';
import type { Beginning } from './dry-run-prompt.js';

/** Up to the end of this block the server may cache. */
export interface PromptMark {
  readonly ttl: CacheTtl;
  /** Null of what only the organisation can read. */
  readonly scope: string | null;
}

interface Measured {
  /** Estimated at four bytes each. */
  readonly tokens: number;
  /** The beginning of a SHA-256, by which two prompts can be compared. */
  readonly digest: string;
}

export interface PromptTool extends Measured {
  readonly name: string;
  readonly mark: PromptMark | null;
  /** As it is sent. */
  readonly text: string;
}

export interface PromptSection extends Measured {
  readonly name: string;
  readonly zone: Zone;
  readonly source: string;
  readonly path: string | null;
  /** Why its words may change from turn to turn. */
  readonly mayChange: string | null;
  readonly text: string;
}

export interface PromptBlock extends Measured {
  /** Counts from 1, as it is sent. */
  readonly block: number;
  /** Those of its sections. */
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
  /** In the order in which a server reads them: tools, system, messages. */
  readonly tools: readonly PromptTool[];
  readonly system: readonly PromptBlock[];
  /** What stands before everything else in the first message. */
  readonly opening: Measured & {
    readonly text: string;
    readonly files: readonly (Omit<PreambleFile, 'text'> & Measured)[];
  };
  /** Where marks are, in order. Two more go to the messages of each request. */
  readonly marks: readonly (PromptMark & { readonly after: string; readonly tokens: number })[];
  readonly tokens: {
    readonly tools: number;
    readonly system: number;
    readonly opening: number;
    /** Tools and the zones that are the same for everybody. */
    readonly shared: number;
    readonly all: number;
  };
  readonly notices: readonly string[];
}

export const promptReport = (beginning: Beginning, agent: string | null): PromptReport => {
  const { cwd, model, head, opening, notices } = beginning;
  const tools = (JSON.parse(head.tools) as readonly WireBlock[]).map(toolOf);
  const blocks = JSON.parse(head.system) as readonly WireBlock[];
  const system = blocks.map((block, index) => blockOf(block, index, head.sections));
  const told = opening.text === '' ? '' : rawText(opening.text);
  const tokens = {
    tools: estimatedTokens(head.tools),
    system: estimatedTokens(head.system),
    opening: estimatedTokens(told),
  };
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
      tokens: tokens.opening,
      digest: digestOf(opening.text),
      text: opening.text,
      files: (opening.files ?? []).map(({ text, ...file }) => ({ ...file, ...measured(text) })),
    },
    marks: marksOf(tools, system),
    tokens: { ...tokens, shared, all: tokens.tools + tokens.system + tokens.opening },
    notices,
  };
};

const toolOf = (tool: WireBlock): PromptTool => {
  const { cache_control, ...rest } = tool;
  const text = JSON.stringify(rest);
  return { name: textIn(tool.name), ...measured(text), mark: markOf(cache_control), text };
};

const blockOf = (
  { cache_control, ...rest }: WireBlock,
  index: number,
  all: readonly HeadSection[],
): PromptBlock => {
  const text = textIn(rest.text);
  const sections = all.filter(({ block }) => block === index).map((one) => sectionOf(one, text));
  return {
    block: index + 1,
    zones: [...new Set(sections.map(({ zone }) => zone))],
    mark: markOf(cache_control),
    tokens: estimatedTokens(text),
    digest: digestOf(JSON.stringify(rest)),
    sections,
    text,
  };
};

const sectionOf = (section: HeadSection, whole: string): PromptSection => {
  const { name, zone, source, path = null, mayChange = null, start, end } = section;
  const text = whole.slice(start, end);
  return { name, zone, source, path, mayChange, ...measured(text), text };
};

/** Each mark with what a server has read up to there. */
const marksOf = (
  tools: readonly PromptTool[],
  system: readonly PromptBlock[],
): PromptReport['marks'] => {
  let tokens = 0;
  const parts = [
    ...tools.map((tool) => ({ ...tool, after: `tool ${tool.name}` })),
    ...system.map((block) => ({ ...block, after: `system block ${block.block}` })),
  ];
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

const measured = (text: string): Measured => ({
  tokens: estimatedTokens(text),
  digest: digestOf(text),
});

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');
