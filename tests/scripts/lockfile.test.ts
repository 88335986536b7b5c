/** What `npm ci` needs of the lockfile, so that a clone installs on every platform and from any registry. */
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
    const asked = Object.values(packages).flatMap((entry) =>
      Object.keys(entry.optionalDependencies ?? {}),
    );
    expect(asked.filter((name) => !(`node_modules/${name}` in packages))).toEqual([]);
  });

  test('holds no download address', () => {
    expect(Object.values(packages).flatMap((entry) => entry.resolved ?? [])).toEqual([]);
  });
});
