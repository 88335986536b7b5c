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

describe('looking for ripgrep', () => {
  test('finds the one that npm brought, with its version', async () => {
    const found = await findRipgrep({ PATH: '' });
    expect(found?.path).toMatch(/@vscode\/ripgrep-\w+-\w+\/bin\/rg$/);
    expect(found?.version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  test('takes the one that the environment names', async () => {
    const path = await program('echo "ripgrep 99.1.2 (rev x)"');
    expect(await findRipgrep({ PATH, SKEIN_RIPGREP: path })).toEqual({ path, version: '99.1.2' });
  });

  test.each([
    ['is turned off', 'off'],
    ['is not there', '/no/such/rg'],
  ])('finds none when it %s', async (_, choice) => {
    expect(await findRipgrep({ PATH, SKEIN_RIPGREP: choice })).toBeUndefined();
  });

  test('does not take another program for it, nor one that fails', async () => {
    const other = await program('echo "grep 3.8"');
    const broken = await program('exit 126');
    expect(await findRipgrep({ PATH, SKEIN_RIPGREP: other })).toBeUndefined();
    expect(await findRipgrep({ PATH, SKEIN_RIPGREP: broken })).toBeUndefined();
  });
});

describe('the searches of a machine', () => {
  test('work without ripgrep', async () => {
    const root = await makeTree({ a: 'x' });
    const search = hostSearch({ PATH }, { SKEIN_RIPGREP: 'off' });
    expect((await grep(search, root, 'x')).hits).toEqual(['a:1:x']);
  });

  test('run ripgrep without a configuration and in the environment they are given', async () => {
    const root = await makeTree({ a: 'x', rc: '--invert-match\n' });
    const seen = join(root, 'seen');
    const real = (await findRipgrep({ PATH }))?.path;
    const rg = await program(`env > ${seen}; exec ${real} "$@"`);
    const environment = { PATH, RIPGREP_CONFIG_PATH: join(root, 'rc'), ONLY: 'this' };
    const search = hostSearch(environment, { SKEIN_RIPGREP: rg, SECRET: 'token' });
    const { hits } = await grep(search, root, 'x', { glob: 'a' });
    expect(hits).toEqual(['a:1:x']);
    const { hits: told } = await grep(hostSearch({ PATH }, {}), seen, 'ONLY|SECRET');
    expect(told.map((hit) => hit.replace(/^:\d+:/, ''))).toEqual(['ONLY=this']);
  });

  test('say what ripgrep complains about when it breaks on the way', async () => {
    const root = await makeTree({ a: 'x' });
    const rg = await program(
      'case "$*" in *--version*) echo "ripgrep 15.0.0";; *"-- -") exit 1;; *) echo "out of luck" >&2; exit 3;; esac',
    );
    const search = hostSearch({ PATH }, { SKEIN_RIPGREP: rg });
    await expect(grep(search, root, 'x')).rejects.toThrow('ripgrep failed: out of luck');
  });
});
