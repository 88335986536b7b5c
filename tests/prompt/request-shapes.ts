/** Builds the request parts before the messages, with all inputs of a request shape. */

import type { SentHead } from '../../src/prompt/cache-miss/request-shape.js';
import { bodyHead, type RequestSettings } from '../../src/prompt/request/request-body.js';
import type { CacheTtl, HeadSection } from '../../src/protocol/model/prompt-head.js';
import { capabilitiesOf } from '../../src/protocol/model/providers.js';

export interface HeadSpec {
  readonly tools?: readonly object[];
  /** Name and text of each section. Each section is a block. */
  readonly sections?: Readonly<Record<string, string>>;
  readonly betas?: readonly string[];
  readonly ttl?: CacheTtl;
  /** Number of the system block with a breakpoint, starting at 1. */
  readonly marked?: number;
  readonly settings?: Partial<RequestSettings>;
  readonly marks?: boolean;
}

export const tool = (name: string, description = `${name}s.`) => ({
  name,
  description,
  input_schema: { type: 'object', properties: {} },
});

export const DEFAULT_HEAD = {
  tools: [tool('Read'), tool('Grep'), tool('Edit')],
  sections: { intro: 'You are a goose.', 'env info': 'You fly over Žďár.' },
} as const;

export const sentHead = (spec: HeadSpec = {}): SentHead => {
  const {
    tools = DEFAULT_HEAD.tools,
    sections = DEFAULT_HEAD.sections,
    ttl = '5m',
    marked = 2,
  } = spec;
  const entries = Object.entries(sections);
  const system = entries.map(([, text], index) => ({
    type: 'text',
    text,
    ...(index + 1 === marked && { cache_control: { type: 'ephemeral' } }),
  }));
  const capabilities = { ...capabilitiesOf('firstParty'), marks: spec.marks ?? true };
  const parts = { tools: JSON.stringify(tools), system: JSON.stringify(system), ttl };
  return {
    head: bodyHead({ model: 'm-1', maxTokens: 100, ...spec.settings }, parts, capabilities),
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
    betas: spec.betas ?? [],
  };
};
