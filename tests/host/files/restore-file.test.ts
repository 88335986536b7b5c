import { describe, expect, test } from 'vitest';
import { restoreRefusal } from '../../../src/host/files/restore-file.js';

const LIMITS = { roots: ['/nowhere/repo'], without: ['/nowhere/repo/state'] };

describe('a restore path', () => {
  test.each(['.git/config', 'sub/.git/hooks/x', '.GIT/config', 'git~1/config'])(
    'is refused inside a .git folder: %j',
    (path) => {
      expect(restoreRefusal(`/nowhere/repo/${path}`, LIMITS)).toBe('it belongs to git');
    },
  );

  test('is allowed for similar names', () => {
    expect(restoreRefusal('/nowhere/repo/.gitignore', LIMITS)).toBeUndefined();
  });
});
