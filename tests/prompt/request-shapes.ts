/** A request ahead of its messages, with everything in it that a shape looks at. */

import type { SentHead } from '../../src/prompt/cache-miss/request-shape.js';
import { bodyHead, type RequestSettings } from '../../src/prompt/request/request-body.js';
import type { CacheTtl, HeadSection } from '../../src/protocol/model/prompt-head.js';
import { capabilitiesOf } from '../../src/protocol/model/providers.js';

export interface Said {
  readonly tools?: readonly object[];
  /** Name and text, in one block each. */
  readonly sections?: Readonly<Record<string, string>>;
  readonly betas?: readonly string[];
  readonly ttl?: CacheTtl;
  /** Which block of the system prompt is marked, from 1 on. */
  readonly marked?: number;
  readonly settings?: Partial<RequestSettings>;
  readonly marks?: boolean;
}

export const tool = (name: string, description = `${name}s.`) => ({
  name,
  description,
  input_schema: { type: 'object', properties: {} },
});

export const SAID = {
  tools: [tool('Read'), tool('Grep'), tool('Edit')],
  sections: { intro: 'You are a goose.', 'env info': 'You fly over Žďár.' },
} as const;

export const sentHead = (said: Said = {}): SentHead => {
  const { tools = SAID.tools, sections = SAID.sections, ttl = '5m', marked = 2 } = said;
  const entries = Object.entries(sections);
  const system = entries.map(([, text], index) => ({
    type: 'text',
    text,
    ...(index + 1 === marked && { cache_control: { type: 'ephemeral' } }),
  }));
  const capabilities = { ...capabilitiesOf('firstParty'), marks: said.marks ?? true };
  const parts = { tools: JSON.stringify(tools), system: JSON.stringify(system), ttl };
  return {
    head: bodyHead({ model: 'm-1', maxTokens: 100, ...said.settings }, parts, capabilities),
    sections: entries.map(
      ([name, text], block): HeadSection => ({
        name,
        zone: 'static',
        source: 'test',
        block,
        start: 0,
        end: text.length,
      }),
    ),
    betas: said.betas ?? [],
  };
};
