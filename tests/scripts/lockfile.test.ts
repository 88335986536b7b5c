/** Requirements of the lockfile, so that `npm ci` works on every platform and with any registry. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

interface Entry {
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, Entry>;
};

describe('the lockfile', () => {
  test('names the optional packages of every platform (run scripts/complete-lockfile.mjs)', () => {
    const optional = Object.values(packages).flatMap((entry) =>
      Object.keys(entry.optionalDependencies ?? {}),
    );
    expect(optional.filter((name) => !(`node_modules/${name}` in packages))).toEqual([]);
  });

  test('has no download address', () => {
    expect(Object.values(packages).flatMap((entry) => entry.resolved ?? [])).toEqual([]);
  });
});
