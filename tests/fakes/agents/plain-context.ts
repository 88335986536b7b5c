/** Context provider with one sentence as the system prompt, or with the parts that a test gives. */
import type { ContextProvider } from '../../../src/protocol/model/context-provider.js';
import type { PromptHead } from '../../../src/protocol/model/prompt-head.js';

const HEAD: PromptHead = {
  tools: '[]',
  system: '[{"type":"text","text":"Be a goose."}]',
  sections: [
    {
      name: 'goose',
      zone: 'identity',
      source: 'test',
      block: 0,
      start: 0,
      end: 'Be a goose.'.length,
    },
  ],
  ttl: '5m',
};

export const plainContext = (given: Partial<ContextProvider> = {}): ContextProvider => ({
  head: async () => HEAD,
  isStale: () => false,
  mayChange: false,
  preamble: async () => ({ text: '', facts: {} }),
  reminders: async () => [],
  renew: () => {},
  ...given,
});
