/** A briefing over a small world that a test changes while a session goes on. */
import type { ContextProvider, Reminder } from '../../../src/protocol/model/context-provider.js';
import type { PromptHead } from '../../../src/protocol/model/prompt.js';

export interface World {
  /** The sections of the system prompt, by name. */
  sections: Record<string, string>;
  /** What opens a conversation. */
  opening: string;
  /** Facts that are told when they are no longer as they were told. */
  facts: Record<string, string>;
  /** Rules by the file that they are about. */
  rules: Record<string, string>;
  /** Some section may change on every turn. */
  mayChange: boolean;
  isStale: boolean;
  /** Holds up whoever asks for the opening. */
  gate?: Promise<void>;
}

export interface ChangingBriefing extends ContextProvider {
  readonly world: World;
  /** What was asked, oldest first: `head`, `opening`, `renew`. */
  readonly asked: readonly string[];
}

export const changingBriefing = (given: Partial<World> = {}): ChangingBriefing => {
  const world: World = {
    sections: { goose: 'Be a goose.', mood: 'Be merry.' },
    opening: 'It opens.',
    facts: { date: 'Monday' },
    rules: {},
    mayChange: false,
    isStale: false,
    ...given,
  };
  const asked: string[] = [];
  return {
    world,
    asked,
    get mayChange() {
      return world.mayChange;
    },
    isStale: () => world.isStale,
    renew: () => void asked.push('renew'),
    async head() {
      asked.push('head');
      return headOf(world.sections);
    },
    async opening() {
      asked.push('opening');
      await world.gate;
      return { text: world.opening, facts: { ...world.facts }, files: [] };
    },
    async reminders(told, touched) {
      const facts = Object.entries(world.facts).filter(([fact, value]) => told.get(fact) !== value);
      const rules = touched.flatMap((path) => {
        const text = world.rules[path];
        return text === undefined || told.get(`rule:${path}`) === text
          ? []
          : [{ fact: `rule:${path}`, value: text, text }];
      });
      return [...rules, ...facts.map(([fact, value]): Reminder => newsOf(fact, value))];
    },
  };
};

const newsOf = (fact: string, value: string): Reminder => ({
  fact,
  value,
  text: `The ${fact} is ${value}.`,
});

/** Each section in a block of its own. */
export const headOf = (sections: Readonly<Record<string, string>>): PromptHead => ({
  tools: '[]',
  system: JSON.stringify(Object.values(sections).map((text) => ({ type: 'text', text }))),
  sections: Object.entries(sections).map(([name, text], block) => ({
    name,
    zone: 'dynamic',
    source: 'test',
    block,
    start: 0,
    end: text.length,
  })),
  ttl: '5m',
});
