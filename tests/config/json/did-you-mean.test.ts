import { describe, expect, test } from 'vitest';
import { didYouMean } from '../../../src/config/json/did-you-mean.js';

const COMMANDS = ['demo', 'doctor', 'sessions', 'cost', 'logs', 'config', 'trust'];

describe('the command that somebody meant', () => {
  test.each([
    ['doctr', 'doctor'],
    ['dcotor', 'doctor'],
    ['session', 'sessions'],
    ['seesion', 'sessions'],
    ['LOGS', 'logs'],
    ['log', 'logs'],
    ['confgi', 'config'],
  ])('by %s is %s', (given, meant) => {
    expect(didYouMean(given, COMMANDS)).toBe(meant);
  });

  test.each(['test', 'hi', 'explain', 'fix it', 'do', '', 'x'.repeat(10_000)])(
    'by "%s" is none: it is a prompt',
    (given) => {
      expect(didYouMean(given, COMMANDS)).toBeUndefined();
    },
  );
});
