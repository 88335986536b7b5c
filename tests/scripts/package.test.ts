/** The package as a user installs it: packed, and installed from the tarball with its dependencies. */
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';

const TWO_MINUTES = 120_000;

const run = promisify(execFile);

/** Packs and installs the package. Returns the folder of `npm install --global` and the paths in the tarball. */
const installPackage = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'package-'));
  // Scripts would build dist again while other tests run it.
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const [packed] = JSON.parse((await run('npm', pack)).stdout) as {
    filename: string;
    files: { path: string }[];
  }[];
  if (packed === undefined) throw new Error('npm packed nothing.');
  const prefix = join(folder, 'prefix');
  const quietly = ['--prefer-offline', '--no-audit', '--no-fund', '--no-update-notifier'];
  const install = ['install', '--global', '--prefix', prefix, join(folder, packed.filename)];
  await run('npm', install.concat(quietly), { cwd: folder });
  return { prefix, files: packed.files.map(({ path }) => path) };
};

describe('the installed package', () => {
  let installed: Awaited<ReturnType<typeof installPackage>>;
  beforeAll(async () => {
    installed = await installPackage();
  }, TWO_MINUTES);

  test('has a command that prints its version', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    const { stdout } = await run(join(installed.prefix, 'bin/skein'), ['--version'], { cwd: '/' });
    expect(stdout).toBe(`${version}\n`);
  });

  test('has a library that a program imports by name', async () => {
    const program = "import { query } from 'skein'; console.log(typeof query);";
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
      cwd: join(installed.prefix, 'lib'),
    });
    expect(stdout).toBe('function\n');
  });

  test('has the types of the library and the agents, and no sources, tests or scripts', () => {
    const { files } = installed;
    expect(files).toEqual(expect.arrayContaining(['dist/types/sdk/skein.d.ts', 'LICENSE']));
    expect(files.some((file) => /^agents\/.*\.md$/.test(file))).toBe(true);
    expect(files.filter((file) => /^(?:src|tests|scripts)\/|contents\.json$/.test(file))).toEqual(
      [],
    );
  });
});
