/** Composes the content of a message from a scripted reply: fills in templates and assigns ids. */
import { hash } from 'node:crypto';
import { estimateTokens } from './prefix-blocks.js';
import type { RequestFacts } from './request-facts.js';
import type { Reply, ReplyBlock } from './script.js';

export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | {
      readonly type: 'tool_use' | 'server_tool_use';
      readonly id: string;
      readonly name: string;
      /** Input as JSON text. A script may make it malformed. */
      readonly json: string;
    }
  | { readonly type: ServerResult; readonly tool_use_id: string; readonly content: unknown };

type ServerResult = Extract<ReplyBlock, { tool_use_id?: string | undefined }>['type'];

export interface ComposedContent {
  readonly content: readonly ContentBlock[];
  readonly stopReason: string;
  readonly outputTokens: number;
  /** Number of billed web searches. */
  readonly webSearches: number;
}

/**
 * Ids derive from `digest`, the digest of the prompt, so that a retried request gets the same ids.
 * `sign` makes the signature of thinking blocks.
 */
export const composeReply = (
  reply: Reply,
  facts: RequestFacts,
  digest: string,
  sign = () => shortId(`${digest} signature`),
): ComposedContent => {
  const fill = (text: string) => fillTemplate(text, facts);
  let serverCall = '';
  const content = blocksOfReply(reply).map((block, index): ContentBlock => {
    switch (block.type) {
      case 'text':
        return { type: 'text', text: fill(block.text) };
      case 'thinking': {
        const signature = block.signature ?? sign();
        return { type: 'thinking', thinking: fill(block.thinking), signature };
      }
      case 'redacted_thinking':
        return block;
      case 'tool_use':
      case 'server_tool_use': {
        const prefix = block.type === 'tool_use' ? 'toolu' : 'srvtoolu';
        const id = block.id ?? `${prefix}_01${shortId(`${digest} ${index}`)}`;
        if (block.type === 'server_tool_use') serverCall = id;
        const json =
          fill(block.input_json ?? '') || JSON.stringify(fillDeep(block.input ?? {}, fill));
        return { type: block.type, id, name: block.name, json };
      }
      default: {
        const { type, tool_use_id = serverCall, content } = block;
        return { type, tool_use_id, content };
      }
    }
  });
  const asksForTools = content.some((block) => block.type === 'tool_use');
  return {
    content,
    stopReason: reply.stop_reason ?? defaultStopReason(reply, asksForTools),
    outputTokens:
      reply.usage?.output_tokens ?? content.reduce((sum, block) => sum + tokensOfBlock(block), 0),
    webSearches: content.filter(isSearch).length,
  };
};

const isSearch = (block: ContentBlock): boolean =>
  block.type === 'server_tool_use' && block.name === 'web_search';

const defaultStopReason = (reply: Reply, asksForTools: boolean): string => {
  if (reply.stop_sequence !== undefined) return 'stop_sequence';
  return asksForTools ? 'tool_use' : 'end_turn';
};

/** Returns 22 hexadecimal digits derived from the text. */
export const shortId = (text: string): string => hash('sha1', text, 'hex').slice(0, 22);

const blocksOfReply = (reply: Reply): readonly ReplyBlock[] => {
  if (reply.blocks) return reply.blocks;
  const { thinking, text, tool_use = [] } = reply;
  return [
    ...(thinking === undefined ? [] : [{ type: 'thinking' as const, thinking }]),
    ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
    ...[tool_use].flat().map((call) => ({ type: 'tool_use' as const, ...call })),
  ];
};

const tokensOfBlock = (block: ContentBlock): number => {
  if (block.type === 'text') return estimateTokens(block.text);
  if (block.type === 'thinking') return estimateTokens(block.thinking);
  if ('json' in block) return estimateTokens(block.name + block.json);
  return 0;
};

const TEMPLATE = /\{\{(turn|firstUser|lastUser|toolResult|model)\}\}/g;

const fillTemplate = (text: string, facts: RequestFacts): string =>
  text.includes('{{')
    ? text.replace(TEMPLATE, (_, name: keyof RequestFacts) => String(facts[name]))
    : text;

const fillDeep = (value: unknown, fill: (text: string) => string): unknown => {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((item) => fillDeep(item, fill));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, fillDeep(item, fill)]),
  );
};
