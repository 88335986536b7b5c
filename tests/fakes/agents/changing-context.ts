/** Context provider over a small world that a test changes during a session. */
import type { ContextProvider, Reminder } from '../../../src/protocol/model/context-provider.js';
import type { PromptHead } from '../../../src/protocol/model/prompt-head.js';

export interface World {
  /** Sections of the system prompt, by name. */
  sections: Record<string, string>;
  /** Preamble of the first message. */
  opening: string;
  /** Facts that become reminders when they change. */
  facts: Record<string, string>;
  /** Rules by the path of the file that they apply to. */
  rules: Record<string, string>;
  /** True if a section may change on every turn. */
  mayChange: boolean;
  isStale: boolean;
  /** Delays the preamble until it resolves. */
  gate?: Promise<void>;
}

export interface ChangingContext extends ContextProvider {
  readonly world: World;
  /** Calls in order: `head`, `opening`, `renew`. */
  readonly asked: readonly string[];
}

export const changingContext = (given: Partial<World> = {}): ChangingContext => {
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
    async preamble() {
      asked.push('opening');
      await world.gate;
      return { text: world.opening, facts: { ...world.facts }, files: [] };
    },
    async reminders(known, touched) {
      const facts = Object.entries(world.facts).filter(
        ([fact, value]) => known.get(fact) !== value,
      );
      const rules = touched.flatMap((path) => {
        const text = world.rules[path];
        return text === undefined || known.get(`rule:${path}`) === text
          ? []
          : [{ fact: `rule:${path}`, value: text, text }];
      });
      return [...rules, ...facts.map(([fact, value]): Reminder => reminderOf(fact, value))];
    },
  };
};

const reminderOf = (fact: string, value: string): Reminder => ({
  fact,
  value,
  text: `The ${fact} is ${value}.`,
});

/** Returns a head with one block for each section. */
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
