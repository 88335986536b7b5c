import { describe, expect, test } from 'vitest';
import { bash, policyOf } from '../policy-fixtures.js';
import { CORPUS, CORPUS_RULES } from './shell-corpus.js';

const policy = policyOf({ rules: CORPUS_RULES });

test('the corpus has at least 300 commands without duplicates', () => {
  const commands = CORPUS.flatMap((group) => group.commands);
  expect(new Set(commands).size).toBe(commands.length);
  expect(commands.length).toBeGreaterThanOrEqual(300);
});

for (const { about, ruling, commands } of CORPUS) {
  describe(about, () => {
    test.each(commands)(`is ruled ${ruling}: %j`, (command) => {
      const { behavior, step } = policy.rule(bash(command));
      expect(`${behavior}@${step}`).toBe(ruling);
    });
  });
}
