import { describe, expect, test } from 'vitest';
import { watchedRoots } from '../../../src/sdk/assembly/session-checkpoints.js';

describe('the folders that are compared around a command', () => {
  test.each([
    [['/nowhere/repo'], ['/nowhere/repo']],
    [
      ['/nowhere/repo', '/nowhere/docs'],
      ['/nowhere/repo', '/nowhere/docs'],
    ],
    [['/nowhere/repo', '/'], ['/nowhere/repo']],
    [['/nowhere/repo', '/nowhere/repo/src'], ['/nowhere/repo']],
    [
      ['/nowhere/repo', '/nowhere/repo2', '/nowhere/repo2/src'],
      ['/nowhere/repo', '/nowhere/repo2'],
    ],
    [['/nowhere/repo', '/nowhere/repo'], ['/nowhere/repo']],
  ])('of %j are %j', (roots, watched) => {
    expect(watchedRoots(roots)).toEqual(watched);
  });
});
