import { describe, expect, test } from 'vitest';
import { CORPUS, CORPUS_RULES } from './shell-corpus.js';
import { bash, policyOf } from './workshop.js';

const policy = policyOf({ rules: CORPUS_RULES });

for (const { about, ruling, commands } of CORPUS) {
  describe(about, () => {
    test.each(commands)(`is ruled ${ruling}: %j`, (command) => {
      const { behavior, step } = policy.rule(bash(command));
      expect(`${behavior}@${step}`).toBe(ruling);
    });
  });
}
