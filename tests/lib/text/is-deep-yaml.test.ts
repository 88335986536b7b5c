import { describe, expect, test } from 'vitest';
import { isDeepYaml } from '../../../src/lib/text/is-deep-yaml.js';

describe('YAML', () => {
  test.each(['{', '[', '{"a":', '- ', '? ', ': ', '[{', 'a: '])(
    'is too deep with a thousand times %j',
    (mark) => {
      expect(isDeepYaml(mark.repeat(1_000))).toBe(true);
      expect(isDeepYaml(mark.repeat(8))).toBe(false);
    },
  );

  test('is too deep with a thousand nested lines', () => {
    const nested = (levels: number) =>
      Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}k:`).join('\n');
    expect([isDeepYaml(nested(20)), isDeepYaml(nested(1_000))]).toEqual([false, true]);
  });

  test('is not too deep if it is only long', () => {
    const text = 'description: Use it when: a test - any test - fails.\npaths: ["a/*.{ts,tsx}"]\n';
    expect(isDeepYaml(text.repeat(20))).toBe(false);
  });
});
