/** A briefing that says one sentence and nothing else, or what a test gives it. */
import type { ContextProvider } from '../../../src/protocol/model/context-provider.js';
import type { PromptHead } from '../../../src/protocol/model/prompt.js';

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

export const plainBriefing = (given: Partial<ContextProvider> = {}): ContextProvider => ({
  head: async () => HEAD,
  isStale: () => false,
  mayChange: false,
  opening: async () => ({ text: '', facts: {} }),
  reminders: async () => [],
  renew: () => {},
  ...given,
});
