import { describe, expect, test } from 'vitest';
import { didYouMean } from '../../../src/lib/text/did-you-mean.js';

const COMMANDS = ['demo', 'doctor', 'sessions', 'cost', 'logs', 'config', 'trust'];

describe('a mistyped command', () => {
  test.each([
    ['doctr', 'doctor'],
    ['dcotor', 'doctor'],
    ['session', 'sessions'],
    ['seesion', 'sessions'],
    ['LOGS', 'logs'],
    ['log', 'logs'],
    ['confgi', 'config'],
  ])('%s suggests %s', (given, expected) => {
    expect(didYouMean(given, COMMANDS)).toBe(expected);
  });

  test.each(['test', 'hi', 'explain', 'fix it', 'do', '', 'x'.repeat(10_000)])(
    '"%s" suggests no command because it is a prompt',
    (given) => {
      expect(didYouMean(given, COMMANDS)).toBeUndefined();
    },
  );
});
