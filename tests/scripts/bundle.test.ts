import { accessSync, constants, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

describe('the bundle', () => {
  test('is a program that a shell can start', () => {
    expect(readFileSync('dist/skein.js', 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    accessSync('dist/skein.js', constants.X_OK);
  });
});
