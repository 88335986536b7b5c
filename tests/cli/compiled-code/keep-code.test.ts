import { execFile } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mapWithLimit } from '../../fakes/map-with-limit.js';
import { PROGRAM, type Rules, setScene } from '../../fakes/skein-process.js';
import { someOf } from '../../laws/killed-run.js';

const FILES = ['skein.cjs', 'keep-code.cjs', 'program.cjs', 'watchdog.cjs'];
const KILLER = resolve('tests/laws/kill-at-change.mjs');
const NOTE = resolve('tests/scripts/note-compiled.cjs');

interface RunOptions {
  readonly preload?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** An installation without compiled code for this version of Node, and a home. */
const install = async (rules?: Rules) => {
  const { root, home, skeinHome, simulator, workspace } = await setScene(rules);
  const dist = join(root, 'dist');
  mkdirSync(dist);
  for (const file of FILES) copyFileSync(join(PROGRAM, '..', file), join(dist, file));
  const folder = join(skeinHome, 'cache', 'code');
  const run = async ({ preload = NOTE, env = {} }: RunOptions = {}) => {
    // Without commands no scan of the files adds changes at random times.
    const args = [join(dist, 'skein.cjs'), '-p', 'Hello.', '--disallowed-tools', 'Bash'];
    const variables = {
      PATH: process.env.PATH,
      HOME: home,
      ANTHROPIC_BASE_URL: simulator.url,
      ANTHROPIC_API_KEY: 'key',
      NODE_OPTIONS: `--import ${preload}`,
      ...env,
    };
    return new Promise<{ stdout: string; isCompiled: boolean; signal: string | null }>((settle) => {
      const child = execFile(
        process.execPath,
        args,
        { cwd: workspace, env: variables },
        (_, stdout, stderr) =>
          settle({ stdout, isCompiled: stderr === 'accepted\n', signal: child.signalCode }),
      );
      child.stdin?.end();
    });
  };
  const kept = () => {
    try {
      return readdirSync(folder).sort();
    } catch {
      return [];
    }
  };
  /** Path of the only kept file. */
  const file = () => {
    const [name = '', ...others] = kept();
    expect(others).toEqual([]);
    return join(folder, name);
  };
  return { dist, folder, home, skeinHome, run, kept, file };
};

const NEW = { stdout: 'Done.\n', isCompiled: false };
const COMPILED = { stdout: 'Done.\n', isCompiled: true };

const changeByte = (path: string, at: number) => {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
};

describe('code that a run keeps', () => {
  test('is used by the next start', async () => {
    const { run, file, folder } = await install();
    expect(await run()).toMatchObject(NEW);
    const { mode } = statSync(file());
    expect([mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
    const before = readFileSync(file());
    expect(await run()).toMatchObject(COMPILED);
    expect(readFileSync(file()).equals(before)).toBe(true);
  });

  test('is written while the second answer is awaited', async () => {
    const rules: Rules = [
      { match: { turn: 1 }, reply: { text: 'Done.', delayMs: 2_000 } },
      { reply: { tool_use: { name: 'LS', input: { path: '.' } } } },
    ];
    const { run, kept } = await install(rules);
    // A run that is killed does not reach its end.
    const preload = resolve('tests/cli/compiled-code/kill-at-exit.mjs');
    expect(await run({ preload })).toMatchObject({ signal: 'SIGKILL' });
    expect(kept()).toHaveLength(1);
    expect(await run({ preload })).toMatchObject({ signal: 'SIGKILL' });
    expect(kept()).toHaveLength(1);
  });

  test.each<[string, (file: string, folder: string) => void]>([
    ['is empty', (file) => truncateSync(file, 0)],
    ['is cut short', (file) => truncateSync(file, Math.floor(statSync(file).size / 2))],
    ['is too long', (file) => appendFileSync(file, 'x')],
    ['has a changed bit', (file) => changeByte(file, Math.floor(statSync(file).size * 0.7))],
    ['has a changed header', (file) => changeByte(file, 3)],
    ['may be read by others', (file) => chmodSync(file, 0o644)],
    ['may be written by others', (file) => chmodSync(file, 0o602)],
  ])('is ignored and written again if the file %s', async (_, damage) => {
    const { run, file, folder } = await install();
    await run();
    damage(file(), folder);
    expect(await run()).toMatchObject(NEW);
    expect(await run()).toMatchObject(COMPILED);
  });

  test('is ignored if the file is a link', async () => {
    const { run, file, home } = await install();
    await run();
    const [path, target] = [file(), join(home, 'code')];
    renameSync(path, target);
    symlinkSync(target, path);
    expect(await run()).toMatchObject(NEW);
    expect(lstatSync(path).isFile()).toBe(true);
    expect(await run()).toMatchObject(COMPILED);
  });

  test('is neither used nor written in a folder that others may open', async () => {
    const { run, file, folder } = await install();
    await run();
    const before = statSync(file());
    chmodSync(folder, 0o755);
    expect(await run()).toMatchObject(NEW);
    expect(statSync(file()).ino).toBe(before.ino);
  });

  test.runIf(process.geteuid?.() === 0)(
    'is ignored if the file belongs to another user',
    async () => {
      const { run, file } = await install();
      await run();
      chownSync(file(), 1, 1);
      expect(await run()).toMatchObject(NEW);
      expect(statSync(file()).uid).toBe(0);
    },
  );

  test.runIf(process.geteuid?.() === 0)(
    'is not written into a folder of another user',
    async () => {
      const { run, kept, skeinHome } = await install();
      mkdirSync(skeinHome);
      chownSync(skeinHome, 1, 1);
      expect(await run()).toMatchObject(NEW);
      expect(kept()).toEqual([]);
    },
  );

  test('is not written if there is a file in place of the folder', async () => {
    const { run, kept, skeinHome } = await install();
    mkdirSync(skeinHome);
    writeFileSync(join(skeinHome, 'cache'), '');
    expect(await run()).toMatchObject(NEW);
    expect(kept()).toEqual([]);
  });

  test('is ignored by a changed program of the same length', async () => {
    const { dist, run, kept } = await install();
    await run();
    const program = join(dist, 'program.cjs');
    const text = readFileSync(program, 'latin1');
    writeFileSync(program, text.replace('is a defect', 'is a DEFECT'), 'latin1');
    expect(await run()).toMatchObject(NEW);
    expect(await run()).toMatchObject(COMPILED);
    expect(kept()).toHaveLength(2);
  });

  test('is ignored under the name of another program', async () => {
    const { dist, run, file } = await install();
    await run();
    const old = file();
    const program = join(dist, 'program.cjs');
    const text = readFileSync(program, 'latin1');
    writeFileSync(program, text.replace('is a defect', 'is a DEFECT'), 'latin1');
    await run();
    const { crc32 } = await import('node:zlib');
    const name = `${crc32(readFileSync(program)).toString(16)}-`;
    copyFileSync(old, old.replace(/[^/-]+-(?=v)/, name));
    expect(await run()).toMatchObject(NEW);
  });

  test('is kept of four programs at most, and files of killed processes are removed', async () => {
    const { run, folder, kept, skeinHome } = await install();
    mkdirSync(skeinHome);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    const names = ['1.cache', '2.cache', '3.cache', '4.cache', '5.cache', 'old.tmp', 'new.tmp'];
    for (const [index, name] of names.entries()) {
      writeFileSync(join(folder, name), '');
      const time = Date.now() / 1000 - (name === 'new.tmp' ? 0 : 86_400 - index);
      utimesSync(join(folder, name), time, time);
    }
    await run();
    const own = kept().filter((name) => name.includes(process.version));
    expect(own).toHaveLength(1);
    expect(kept()).toEqual([...own, '3.cache', '4.cache', '5.cache', 'new.tmp'].sort());
  });

  test('is whole if several processes write the file at once', async () => {
    const { run, file } = await install();
    const runs = await Promise.all([run(), run(), run()]);
    for (const ended of runs) expect(ended.stdout).toBe('Done.\n');
    expect(file()).toContain(process.version);
    expect(await run()).toMatchObject(COMPILED);
  });

  test('is not written by a run under a profiler', async () => {
    const { run, kept, home } = await install();
    const env = { NODE_V8_COVERAGE: join(home, 'coverage') };
    expect((await run({ env })).stdout).toBe('Done.\n');
    expect(kept()).toEqual([]);
  });

  test('is whole or absent after a kill at any step', async () => {
    const count = await install();
    const counted = join(count.home, 'count');
    const below = (skeinHome: string) => ({ KILL_BELOW: skeinHome });
    const env = { ...below(count.skeinHome), KILL_COUNT_FILE: counted };
    expect((await count.run({ preload: KILLER, env })).stdout).toBe('Done.\n');
    const changes = Number(readFileSync(counted, 'utf8'));
    // The last changes: two folders, the bytes, and the rename.
    const points = [3, 2, 1, 0].flatMap((back) =>
      ['before', 'torn', 'after'].map((when) => ({ at: changes - back, when })),
    );
    await mapWithLimit(someOf(points, 3), 2, async ({ at, when }) => {
      const { run, skeinHome, kept } = await install();
      const kill = { ...below(skeinHome), KILL_AT: String(at), KILL_WHEN: when };
      const killed = await run({ preload: KILLER, env: kill });
      expect(killed).toMatchObject({ stdout: 'Done.\n', signal: 'SIGKILL' });
      // The code belongs to the flags of the killed run, so the same flags read the code.
      const counting = join(skeinHome, 'count');
      const again = { ...below(skeinHome), KILL_COUNT_FILE: counting };
      const isWritten = kept().some((name) => name.endsWith('.cache'));
      expect(isWritten).toBe(at === changes && when === 'after');
      expect(await run({ preload: KILLER, env: again })).toMatchObject({ stdout: 'Done.\n' });
      expect(kept().filter((name) => name.endsWith('.cache'))).toHaveLength(1);
      const { size } = statSync(join(skeinHome, 'cache/code', kept()[0] ?? ''));
      expect(size).toBeGreaterThan(1_000_000);
    });
  });
});
