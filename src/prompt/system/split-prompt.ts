/**
 * Third stage: splits the prompt into blocks, each with a cache scope and an optional breakpoint.
 *
 *   with MCP tools         attribution –   identity org *     rest org
 *   with the boundary      attribution –   identity –         static global *   dynamic
 *   otherwise              attribution –   identity org *     rest org
 *
 * `*` is a breakpoint. A rest without an identity has it. At most one, because the other three of a
 * request belong to its messages: the preamble ends what all agents of a session share.
 */
import type { HeadSection } from '../../protocol/model/prompt-head.js';
import type { CacheScope } from '../../protocol/model/providers.js';
import { BOUNDARY } from '../boundary.js';
import type { PromptPiece } from './section.js';
import { IDENTITY } from './static-sections.js';
import { BETWEEN, type SystemPrompt } from './system-prompt.js';

export type SplitMode = 'mcp-tools' | 'boundary' | 'plain';

export interface SplitOptions {
  /** Text of the attribution block (program, version, entry point); empty for no block. */
  readonly attribution: string;
  readonly hasMcpTools: boolean;
}

export interface PlannedBlock {
  readonly zone: 'attribution' | 'identity' | 'static' | 'dynamic' | 'rest';
  readonly text: string;
  readonly scope: CacheScope;
  readonly hasBreakpoint: boolean;
  /** Indices of the prompt's texts in this block. */
  readonly parts: readonly number[];
}

export const splitMode = (prompt: SystemPrompt, hasMcpTools: boolean): SplitMode => {
  if (hasMcpTools) return 'mcp-tools';
  return prompt.includes(BOUNDARY) ? 'boundary' : 'plain';
};

export const splitPrompt = (
  prompt: SystemPrompt,
  { attribution, hasMcpTools }: SplitOptions,
): readonly PlannedBlock[] => {
  const mode = splitMode(prompt, hasMcpTools);
  const hasIdentity = prompt[0] === IDENTITY;
  const first = hasIdentity ? 1 : 0;
  const edge = prompt.indexOf(BOUNDARY);
  const isSplit = mode === 'boundary';
  const block = (
    zone: PlannedBlock['zone'],
    from: number,
    to: number,
    scope: CacheScope,
    hasBreakpoint: boolean,
  ): PlannedBlock[] => {
    const parts = range(from, to).filter((index) => prompt[index] !== BOUNDARY);
    const text = parts.map((index) => prompt[index]).join(BETWEEN);
    return text === '' ? [] : [{ zone, text, scope, hasBreakpoint, parts }];
  };
  return [
    ...(attribution === ''
      ? []
      : [
          {
            zone: 'attribution' as const,
            text: attribution,
            scope: null,
            hasBreakpoint: false,
            parts: [],
          },
        ]),
    ...(hasIdentity ? block('identity', 0, 1, isSplit ? null : 'org', !isSplit) : []),
    ...(isSplit
      ? [
          ...block('static', first, edge, 'global', true),
          ...block('dynamic', edge + 1, prompt.length, null, false),
        ]
      : block('rest', first, prompt.length, 'org', !hasIdentity)),
  ];
};

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);

/** Returns the position of each piece in the blocks, so that text can be traced to its origin. */
export const sectionsOf = (
  blocks: readonly PlannedBlock[],
  pieces: readonly PromptPiece[],
): readonly HeadSection[] =>
  blocks.flatMap(({ zone, text, parts }, block): HeadSection[] => {
    if (zone === 'attribution') {
      return [{ name: zone, zone, source: 'skein', block, start: 0, end: text.length }];
    }
    let start = 0;
    return parts.flatMap((index) => {
      const piece = pieces[index];
      if (piece === undefined || piece.zone === 'boundary') return [];
      const { name, source, path, mayChange } = piece;
      const end = start + piece.text.length;
      const placed = { name, zone: piece.zone, source, block, start, end };
      start = end + BETWEEN.length;
      return [{ ...placed, ...(path !== undefined && { path }), ...(mayChange && { mayChange }) }];
    });
  });
