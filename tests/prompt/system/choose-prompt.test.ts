import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assemblePrompt } from '../../../src/prompt/system/assemble-prompt.js';
import { choosePrompt, type PromptChoices } from '../../../src/prompt/system/choose-prompt.js';
import { dynamicSections } from '../../../src/prompt/system/dynamic-sections.js';
import { SectionRegistry } from '../../../src/prompt/system/section-registry.js';
import { systemContext } from '../../../src/prompt/system/system-context.js';
import { someFacts } from '../prompt-facts.js';

const usual = assemblePrompt(new SectionRegistry(dynamicSections(true)).resolve(someFacts()), true);
const namesOf = (choices: PromptChoices) =>
  choosePrompt(usual, choices, []).map(({ name }) => name);
const USUAL = usual.map(({ name }) => name);

const agent = { name: 'scout', text: 'Look around.', isProactive: false };
const proactive = { ...agent, isProactive: true };
const all = { override: 'o', coordinator: 'c', agent, custom: 'x', append: 'a' };

describe('the chosen prompt', () => {
  test.each<[string, PromptChoices, readonly string[]]>([
    ['no choice: the default', {}, USUAL],
    ['append: the default with the appended text last', { append: 'a' }, [...USUAL, 'append']],
    ['custom', { custom: 'x' }, ['custom', 'env info']],
    ['custom and append', { custom: 'x', append: 'a' }, ['custom', 'env info', 'append']],
    ['an agent', { agent }, ['identity', 'agent scout', 'env info']],
    ['an agent over custom', { agent, custom: 'x' }, ['identity', 'agent scout', 'env info']],
    ['a proactive agent', { agent: proactive }, [...USUAL, 'agent scout']],
    ['a proactive agent over custom', { agent: proactive, custom: 'x' }, [...USUAL, 'agent scout']],
    [
      'a proactive agent and append',
      { agent: proactive, append: 'a' },
      [...USUAL, 'agent scout', 'append'],
    ],
    ['a coordinator', { coordinator: 'c' }, ['identity', 'coordinator', 'env info']],
    [
      'a coordinator over an agent and custom',
      { coordinator: 'c', agent: proactive, custom: 'x', append: 'a' },
      ['identity', 'coordinator', 'env info', 'append'],
    ],
    ['an override', { override: 'o' }, ['override']],
    ['an override over all other choices', all, ['override']],
    ['empty texts: the default', { override: '', custom: '', append: '' }, USUAL],
  ])('with %s (P11, P12)', (_, choices, names) => {
    expect(namesOf(choices)).toEqual(names);
  });

  test('follows the order of the five levels for any choices', () => {
    const maybe = (text: string) => fc.constantFrom(undefined, text);
    const choices = fc.record({
      override: maybe('o'),
      coordinator: maybe('c'),
      agent: fc.constantFrom(undefined, agent, proactive),
      custom: maybe('x'),
      append: maybe('a'),
    });
    fc.assert(
      fc.property(choices, (given) => {
        const names = namesOf(given);
        const levels = ['override', 'coordinator', 'agent scout', 'custom'];
        const present = levels.filter((level) => names.includes(level));
        const expected = levels.find(
          (level) => given[level.split(' ')[0] as keyof typeof given] !== undefined,
        );
        expect(present).toEqual(expected === undefined ? [] : [expected]);
        const isAppended = given.append !== undefined && given.override === undefined;
        expect(names.at(-1) === 'append').toBe(isAppended);
      }),
    );
  });

  test('ends with the system context for any choice (P14)', () => {
    const context = systemContext('On branch main.', 'x1');
    for (const choices of [{}, all, { custom: 'x', append: 'a' }]) {
      const names = choosePrompt(usual, choices, context).map(({ name }) => name);
      expect(names.slice(-2)).toEqual(['system context', 'cache breaker']);
    }
  });

  test('equals the golden file (P2, stage 2)', async () => {
    const shown = choosePrompt(
      usual,
      { agent: { ...agent, path: '/a/scout.md' }, append: 'Hush.' },
      [],
    )
      .map(({ name, source, path = '', text }) => `[${name} · ${source} · ${path}]\n${text}`)
      .join('\n\n');
    await expect(`${shown}\n`).toMatchFileSnapshot('golden/chosen.txt');
  });
});
