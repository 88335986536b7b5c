import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hostSearch } from '../../../src/host/search/host-search.js';
import { findRipgrep } from '../../../src/host/search/ripgrep.js';
import { grep, makeTree } from './search-tree.js';

const PATH = process.env.PATH ?? '';

const program = async (script: string): Promise<string> => {
  const path = join(await mkdtemp(join(tmpdir(), 'skein-rg-')), 'rg');
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
};

describe('findRipgrep', () => {
  test('finds the program of the npm package, with its version', async () => {
    const found = await findRipgrep({ PATH: '' });
    expect(found?.path).toMatch(/@vscode\/ripgrep-\w+-\w+\/bin\/rg$/);
    expect(found?.version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  test('uses the program that SKEIN_RIPGREP names', async () => {
    const path = await program('echo "ripgrep 99.1.2 (rev x)"');
    expect(await findRipgrep({ PATH, SKEIN_RIPGREP: path })).toEqual({ path, version: '99.1.2' });
  });

  test.each([
    ['is turned off', 'off'],
    ['is not there', '/no/such/rg'],
  ])('returns undefined if ripgrep %s', async (_, choice) => {
    expect(await findRipgrep({ PATH, SKEIN_RIPGREP: choice })).toBeUndefined();
  });

  test('rejects another program and a failing program', async () => {
    const other = await program('echo "grep 3.8"');
    const broken = await program('exit 126');
    expect(await findRipgrep({ PATH, SKEIN_RIPGREP: other })).toBeUndefined();
    expect(await findRipgrep({ PATH, SKEIN_RIPGREP: broken })).toBeUndefined();
  });
});

describe('the searches of a host', () => {
  test('work without ripgrep', async () => {
    const root = await makeTree({ a: 'x' });
    const search = hostSearch({ PATH }, { SKEIN_RIPGREP: 'off' });
    expect((await grep(search, root, 'x')).hits).toEqual(['a:1:x']);
  });

  test('run ripgrep without a configuration file and only with the given environment', async () => {
    const root = await makeTree({ a: 'x', rc: '--invert-match\n' });
    const seen = join(root, 'seen');
    const real = (await findRipgrep({ PATH }))?.path;
    const rg = await program(`env > ${seen}; exec ${real} "$@"`);
    const environment = { PATH, RIPGREP_CONFIG_PATH: join(root, 'rc'), ONLY: 'this' };
    const search = hostSearch(environment, { SKEIN_RIPGREP: rg, SECRET: 'token' });
    const { hits } = await grep(search, root, 'x', { glob: 'a' });
    expect(hits).toEqual(['a:1:x']);
    const { hits: variables } = await grep(hostSearch({ PATH }, {}), seen, 'ONLY|SECRET');
    expect(variables.map((hit) => hit.replace(/^:\d+:/, ''))).toEqual(['ONLY=this']);
  });

  test('report the error output of ripgrep', async () => {
    const root = await makeTree({ a: 'x' });
    const rg = await program(
      'case "$*" in *--version*) echo "ripgrep 15.0.0";; *"-- -") exit 1;; *) echo "out of luck" >&2; exit 3;; esac',
    );
    const search = hostSearch({ PATH }, { SKEIN_RIPGREP: rg });
    await expect(grep(search, root, 'x')).rejects.toThrow('ripgrep failed: out of luck');
  });
});
