/**
 * The third stage: the prompt as blocks, each with who may share it and whether it ends with a mark.
 *
 *   with MCP tools         attribution –   identity org+mark     rest org+mark
 *   with the boundary      attribution –   identity –            static global+mark   dynamic mark
 *   otherwise              attribution –   identity org+mark     rest org+mark
 *
 * Two marks at most: the other two of a request belong to its messages.
 */
import type { HeadSection } from '../../protocol/model/prompt.js';
import type { CacheScope } from '../../protocol/model/providers.js';
import type { Piece } from './section.js';
import { IDENTITY } from './static-zone.js';
import { BETWEEN, BOUNDARY, type SystemPrompt } from './system-prompt.js';

export type SplitMode = 'mcp-tools' | 'boundary' | 'plain';

export interface SplitOptions {
  /** Who speaks, in which version. Left out where it is empty. */
  readonly attribution: string;
  readonly hasMcpTools: boolean;
}

export interface PlannedBlock {
  readonly zone: 'attribution' | 'identity' | 'static' | 'dynamic' | 'rest';
  readonly text: string;
  readonly scope: CacheScope;
  readonly marked: boolean;
  /** Which texts of the prompt stand in it. */
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
    marked: boolean,
  ): PlannedBlock[] => {
    const parts = range(from, to).filter((index) => prompt[index] !== BOUNDARY);
    const text = parts.map((index) => prompt[index]).join(BETWEEN);
    return text === '' ? [] : [{ zone, text, scope, marked, parts }];
  };
  return [
    ...(attribution === ''
      ? []
      : [
          {
            zone: 'attribution' as const,
            text: attribution,
            scope: null,
            marked: false,
            parts: [],
          },
        ]),
    ...(hasIdentity ? block('identity', 0, 1, isSplit ? null : 'org', !isSplit) : []),
    ...(isSplit
      ? [
          ...block('static', first, edge, 'global', true),
          ...block('dynamic', edge + 1, prompt.length, null, true),
        ]
      : block('rest', first, prompt.length, 'org', true)),
  ];
};

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);

/** Where each piece ended up, so that a block can be traced to its origin. */
export const sectionsOf = (
  blocks: readonly PlannedBlock[],
  pieces: readonly Piece[],
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
