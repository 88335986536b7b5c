/** Builds the prompt head of a request from the three stages, as it is stored and sent. */
import type { CacheTtl, PromptHead } from '../../protocol/model/prompt-head.js';
import type { Capabilities } from '../../protocol/model/providers.js';
import type { RawJson } from '../../protocol/model/wire-block.js';
import { withoutBoundary } from '../boundary.js';
import { escapeLine } from '../escape-tags.js';
import type { PromptPiece } from '../system/section.js';
import { type SplitOptions, sectionsOf } from '../system/split-prompt.js';
import { IDENTITY } from '../system/static-sections.js';
import { asSystemPrompt } from '../system/system-prompt.js';
import { type CachePlan, cachePlan } from './cache-plan.js';

interface HeadOptions extends SplitOptions {
  readonly tools: RawJson;
  readonly capabilities: Capabilities;
  readonly ttl: CacheTtl;
}

export const promptHead = (source: readonly PromptPiece[], options: HeadOptions): PromptHead => {
  const { tools, ttl } = options;
  const pieces = source.map((piece) =>
    piece.zone === 'boundary' ? piece : { ...piece, text: withoutBoundary(piece.text) },
  );
  const prompt = asSystemPrompt(pieces.map(({ text }) => text));
  const { system } = cachePlan({ ...options, prompt, messages: [] });
  const blocks = system.map(blockJson).join(',');
  return { tools, system: `[${blocks}]`, sections: sectionsOf(system, pieces), ttl };
};

const blockJson = ({ text, cacheControl }: CachePlan['system'][number]): RawJson => {
  const plain = JSON.stringify({ type: 'text', text: text.toWellFormed() });
  return cacheControl === null ? plain : `${plain.slice(0, -1)},"cache_control":${cacheControl}}`;
};

/** Builds a minimal head: identity, working directory and date. */
export const simpleHead = (
  cwd: string,
  date: string,
  tools: RawJson,
  ttl: CacheTtl,
): PromptHead => {
  const text = withoutBoundary(`${IDENTITY}\n\nCWD: ${escapeLine(cwd)}\nDate: ${date}`);
  return {
    tools,
    ttl,
    system: JSON.stringify([{ type: 'text', text: text.toWellFormed() }]),
    sections: [
      { name: 'simple', zone: 'identity', source: 'skein', block: 0, start: 0, end: text.length },
    ],
  };
};

/** Returns the text of the first block. It never changes within a session (law 3). */
export const attributionText = (version: string, entrypoint: string): string =>
  `skein ${version}; entrypoint ${entrypoint}`;
