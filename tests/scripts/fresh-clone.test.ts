/** `npm start` and `npm test` from every state of a clone. npm, vitest and the bundler are small fakes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

const INSTALLING = 'Installing dependencies (once)…\n';
const LOCK = {
  '': { name: 'skein' },
  'node_modules/vitest': { version: '4.1.0', integrity: 'sha512-a' },
  'node_modules/other-platform': { version: '1.0.0', integrity: 'sha512-b', optional: true },
};
const INSTALLED = { 'node_modules/vitest': LOCK['node_modules/vitest'] };

/** Installs and builds as `npm ci` does, and records its arguments. */
const NPM = `
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
appendFileSync('npm-calls', process.argv.slice(2).join(' ') + '\\n');
console.log('added 1 package');
mkdirSync('node_modules/vitest', { recursive: true });
writeFileSync('node_modules/vitest/vitest.mjs', 'console.log("vitest", ...process.argv.slice(2), process.env.NODE_ENV);');
writeFileSync('node_modules/.package-lock.json', '${JSON.stringify({ packages: INSTALLED })}');
execFileSync(process.execPath, ['scripts/build.mjs']);
`;

const BUILD = `
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { inputsDigest, STAMP } from './installed.mjs';
const digest = inputsDigest(process.cwd());
appendFileSync('builds', 'built\\n');
mkdirSync('dist', { recursive: true });
writeFileSync('dist/skein.cjs', readFileSync('src/cli/main.ts'));
writeFileSync(STAMP, digest);
`;

const MAIN = 'console.log("skein", ...process.argv.slice(2));';

const clone = ({ npm = NPM, main = MAIN, env = {} } = {}) => {
  const root = mkdtempSync(join(tmpdir(), 'skein clone # '));
  const write = (file: string, content: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), content);
  };
  const lock = (packages: object) => write('package-lock.json', JSON.stringify({ packages }));
  const lines = (file: string) =>
    existsSync(join(root, file))
      ? readFileSync(join(root, file), 'utf8').split('\n').slice(0, -1)
      : [];
  cpSync('scripts', join(root, 'scripts'), { recursive: true });
  write('scripts/build.mjs', BUILD);
  write('bin/npm-cli.js', npm);
  write('src/cli/main.ts', main);
  write('agents/explorer.md', '');
  write('package.json', '{"type":"module"}');
  write('tsconfig.json', '{}');
  write('tsconfig.types.json', '{}');
  lock(LOCK);
  const launch = (script: string, ...args: string[]) =>
    spawn(process.execPath, [`scripts/${script}.mjs`, ...args], {
      cwd: root,
      env: {
        ...process.env,
        npm_execpath: join(root, 'bin/npm-cli.js'),
        NODE_ENV: 'production',
        ...env,
      },
    });
  const run = (script: string, ...args: string[]) => outcome(launch(script, ...args));
  return { root, write, lock, lines, launch, run };
};

const outcome = async (child: ChildProcess) => {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('Started without pipes.');
  const [out, err, [code, signal]] = await Promise.all([
    text(stdout),
    text(stderr),
    once(child, 'exit'),
  ]);
  return { out, err, code, signal };
};

const until = async (condition: () => boolean) => {
  while (!condition()) await sleep(10);
};

describe('a fresh clone', () => {
  test('installs with dev dependencies and runs the demo', async () => {
    const { run, lines } = clone();
    expect(await run('start', '--seed', '7')).toEqual({
      out: 'skein demo --seed 7\n',
      err: INSTALLING,
      code: 0,
      signal: null,
    });
    expect(lines('npm-calls')).toEqual(['ci --include=dev --loglevel=error']);
    expect(lines('builds')).toEqual(['built']);
  });

  test('installs and runs the tests with NODE_ENV=test', async () => {
    const { run } = clone();
    const { out, err } = await run('test', 'tests/a.test.ts', '-t', 'one');
    expect(out).toBe('vitest run tests/a.test.ts -t one test\n');
    expect(err).toBe(INSTALLING);
  });

  test('prints no notice and installs no package the second time', async () => {
    const { run, lines } = clone();
    await run('start');
    expect(await run('start')).toMatchObject({ err: '', out: 'skein demo\n' });
    expect(await run('test')).toMatchObject({ err: '', code: 0 });
    expect(lines('npm-calls')).toHaveLength(1);
    expect(lines('builds')).toHaveLength(1);
  });

  test('exits with the code and the error of npm if the install fails', async () => {
    const { run } = clone({ npm: 'console.error("npm error no network"); process.exit(7);' });
    const failed = { out: '', err: `${INSTALLING}npm error no network\n`, code: 7 };
    expect(await run('test')).toMatchObject(failed);
  });
});

describe('a clone with an earlier install', () => {
  const usedClone = async () => {
    const used = clone();
    await used.run('start');
    return used;
  };

  test.each([
    ['a package has another version', { 'node_modules/vitest': { version: '4.2.0' } }],
    ['a package was added', { ...LOCK, 'node_modules/zod': { version: '4.0.0' } }],
  ])('installs again if %s', async (_, packages) => {
    const { run, lock, lines } = await usedClone();
    lock(packages);
    expect((await run('start')).err).toBe(INSTALLING);
    expect(lines('npm-calls')).toHaveLength(2);
  });

  test.each([
    ['an install was interrupted', '{"packages":{"node_modules/vit'],
    ['the packages are for another platform', { ...INSTALLED['node_modules/vitest'], os: ['aix'] }],
  ])('installs again if %s', async (_, left) => {
    const { run, write, lines } = await usedClone();
    const lock = JSON.stringify({ packages: { 'node_modules/vitest': left } });
    write('node_modules/.package-lock.json', typeof left === 'string' ? left : lock);
    await run('start');
    expect(lines('npm-calls')).toHaveLength(2);
  });

  test('builds again without an install if a source has changed', async () => {
    const { run, write, lines } = await usedClone();
    write('src/cli/main.ts', 'console.log("new");');
    expect(await run('start')).toMatchObject({ out: 'new\n', err: '' });
    write('src/cli/flags.ts', '');
    await run('test');
    expect(lines('builds')).toHaveLength(3);
    expect(lines('npm-calls')).toHaveLength(1);
  });
});

describe('npm start', () => {
  test.each(['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'])(
    'starts a session if there is an %s',
    async (name) => {
      const { run } = clone({ env: { [name]: 'key' } });
      expect(await run('start')).toMatchObject({ out: 'skein --plain\n', code: 0 });
      expect(await run('start', '--model', 'opus')).toMatchObject({ out: 'skein --model opus\n' });
    },
  );

  test('ends with the exit code of the command', async () => {
    const { run } = clone({ main: 'process.exitCode = 3;' });
    expect(await run('start')).toMatchObject({ code: 3, signal: null });
  });

  test('lets the command handle signals', async () => {
    const main = `
      process.on('SIGINT', () => process.exit(130));
      setInterval(() => {}, 1000);
      console.log('ready');`;
    const { launch } = clone({ main });
    const child = launch('start');
    const ended = outcome(child);
    child.stdout?.once('data', () => child.kill('SIGINT'));
    expect(await ended).toMatchObject({ code: 130, signal: null });
  });

  test('stops a running install when it is stopped', async () => {
    const npm = `
      import { writeFileSync } from 'node:fs';
      writeFileSync('npm-pid', process.pid + '\\n');
      setInterval(() => {}, 1000);`;
    const { launch, lines } = clone({ npm });
    const child = launch('start');
    const ended = outcome(child);
    await until(() => lines('npm-pid').length > 0);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ signal: 'SIGTERM' });
    expect(() => process.kill(Number(lines('npm-pid')[0]), 0)).toThrow('ESRCH');
  });
});
