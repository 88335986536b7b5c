import { describe, expect, test } from 'vitest';
import { restoreRefusal } from '../../../src/host/files/restore-file.js';

const BORDERS = { roots: ['/nowhere/repo'], without: ['/nowhere/repo/state'] };

describe('a place to put a file back', () => {
  test.each(['.git/config', 'sub/.git/hooks/x', '.GIT/config', 'git~1/config'])(
    'is refused where git keeps what it runs: %j',
    (path) => {
      expect(restoreRefusal(`/nowhere/repo/${path}`, BORDERS)).toBe('it belongs to git');
    },
  );

  test('is granted for names that only look alike', () => {
    expect(restoreRefusal('/nowhere/repo/.gitignore', BORDERS)).toBeUndefined();
  });
});
