import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseHookMatcher } from '../../../src/protocol/permission/hook-matcher.js';

const matches = (matcher: string, subject: string) => {
  const parsed = parseHookMatcher(matcher);
  return 'matches' in parsed ? parsed.matches(subject) : parsed.problem;
};

describe('the matcher of a hook', () => {
  test.each([
    ['', 'Edit', true],
    ['*', 'mcp__a__b', true],
    ['Edit', 'Edit', true],
    ['Edit', 'MultiEdit', false],
    ['Edit|Write', 'Write', true],
    ['Edit|Write', 'Read', false],
    ['Edit, Write', 'Write', true],
    ['Edit | Write', 'Edit', true],
    ['mcp__memory', 'mcp__memory__write', false],
    ['my-agent', 'my-agent', true],
    ['mcp__memory__.*', 'mcp__memory__write', true],
    ['mcp__.*__write.*', 'mcp__a__write_file', true],
    ['^Notebook', 'NotebookEdit', true],
    ['^(Edit|Write)$', 'MultiEdit', false],
    ['Edit|mcp__.*', 'mcp__x', true],
    ['^(?!Bash$).*', 'Bash', false],
    ['^(?!Bash$).*', 'Edit', true],
    ['edit', 'Edit', false],
  ])('%s for the subject %s is %s', (matcher, subject, expected) => {
    expect(matches(matcher, subject)).toBe(expected);
  });

  test.each([
    ['(', 'is not a regular expression'],
    ['[a-', 'is not a regular expression'],
    ['|', 'contains no name'],
    ['x'.repeat(1_001), 'is longer than 1000 characters'],
    ['(a+)+$', /too long to match/],
    ['(a|a)*$', /too long to match/],
    ['(.*)*', /too long to match/],
    ['(x+x+)+y', /too long to match/],
    ['.*.*.*.*.*=', /too long to match/],
    [`${'a?'.repeat(40)}${'a'.repeat(40)}`, /too long to match/],
    [`${'(a|a)'.repeat(40)}b`, /too long to match/],
    ['(a*){10,}', /too long to match/],
    ['(.)\\1.*', /too long to match/],
  ])('is refused as %s', (matcher, problem) => {
    expect(matches(matcher, 'a')).toEqual(expect.stringMatching(problem));
  });

  test('matches every name of more than 128 characters', () => {
    expect(matches('^Edit.$', 'x'.repeat(129))).toBe(true);
    expect(matches('^Edit.$', 'x'.repeat(128))).toBe(false);
  });

  test('never throws and never takes long, for any pattern', () => {
    const piece = fc.constantFrom(
      'a',
      '.',
      '*',
      '+',
      '?',
      '|',
      '(',
      ')',
      '[a]',
      '{2,}',
      '\\w',
      '$',
    );
    const wild = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(fc.oneof(wild, fc.string()), (matcher) => {
        const found = matches(matcher, `${'a'.repeat(127)}!`);
        expect(['boolean', 'string']).toContain(typeof found);
      }),
      { numRuns: 500 },
    );
  });
});
