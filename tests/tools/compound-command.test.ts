import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCompoundCommand } from '../../src/tools/compound-command.js';

/** What `echo` and these arguments print in a real bash, where TRIP is a command that tells on itself. */
const inBash = (rest: string) =>
  spawnSync('/bin/bash', ['-c', `echo ${rest}`], {
    encoding: 'utf8',
    cwd: '/',
    env: { 'BASH_FUNC_TRIP%%': '() { echo TRIPPED >&2; }' },
  }).stderr;

const PIECES = [
  ...['TRIP', 'TRIP', 'a', ' ', ' ', '\n', '\t', "'", "'", '"', '"', '\\', '#', ';', '&', '|', '`'],
  ...['$', '$(', '${', '(', ')', '{', '}', '<', '>', '=', '!', '[', ']', '*', '~', '-', '\r'],
];

describe('a command that is called plain', () => {
  test('starts nothing but its first word in a real shell', () => {
    const rest = fc
      .array(fc.constantFrom(...PIECES), { maxLength: 14 })
      .map((parts) => parts.join(''));
    const plain = rest.filter(
      (text) => text.includes('TRIP') && !isCompoundCommand(`echo ${text}`),
    );
    fc.assert(
      fc.property(plain, (text) => {
        expect(inBash(text)).not.toContain('TRIPPED');
      }),
      { numRuns: 300 },
    );
  });

  test('is judged by a shell that would notice', () => {
    expect(inBash('a; TRIP')).toContain('TRIPPED');
    expect(inBash("# '\nTRIP #'")).toContain('TRIPPED');
  });
});
