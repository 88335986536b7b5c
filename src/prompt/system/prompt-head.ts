/** All three stages joined: the head of a request, as it is kept and sent. */
import type { CacheTtl, PromptHead } from '../../protocol/model/prompt.js';
import type { Capabilities } from '../../protocol/model/providers.js';
import type { RawJson } from '../../protocol/model/wire.js';
import { inOneLine } from '../messages/quote-text.js';
import { type CachePlan, cachePlan } from '../request/cache-plan.js';
import type { Piece } from './section.js';
import { type SplitOptions, sectionsOf } from './split-prompt.js';
import { IDENTITY } from './static-zone.js';
import { asSystemPrompt, withoutBoundary } from './system-prompt.js';

export interface HeadOptions extends SplitOptions {
  readonly tools: RawJson;
  readonly capabilities: Capabilities;
  readonly ttl: CacheTtl;
}

export const promptHead = (given: readonly Piece[], options: HeadOptions): PromptHead => {
  const { tools, ttl } = options;
  const pieces = given.map((piece) =>
    piece.zone === 'boundary' ? piece : { ...piece, text: withoutBoundary(piece.text) },
  );
  const prompt = asSystemPrompt(pieces.map(({ text }) => text));
  const { system } = cachePlan({ ...options, prompt, messages: [] });
  const blocks = system.map(blockJson).join(',');
  return { tools, system: `[${blocks}]`, sections: sectionsOf(system, pieces), ttl };
};

const blockJson = ({ text, mark }: CachePlan['system'][number]): RawJson => {
  const plain = JSON.stringify({ type: 'text', text: text.toWellFormed() });
  return mark === null ? plain : `${plain.slice(0, -1)},"cache_control":${mark}}`;
};

/** One line of who it is, where and when: for those who pay for every byte. */
export const simpleHead = (
  cwd: string,
  date: string,
  tools: RawJson,
  ttl: CacheTtl,
): PromptHead => {
  const text = withoutBoundary(`${IDENTITY}\n\nCWD: ${inOneLine(cwd)}\nDate: ${date}`);
  return {
    tools,
    ttl,
    system: JSON.stringify([{ type: 'text', text: text.toWellFormed() }]),
    sections: [
      { name: 'simple', zone: 'identity', source: 'skein', block: 0, start: 0, end: text.length },
    ],
  };
};

/** The first block: which program this is. It never changes within a session (law 3). */
export const attributionText = (version: string, entrypoint: string): string =>
  `skein ${version}; entrypoint ${entrypoint}`;
