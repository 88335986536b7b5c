import { describe, expect, test } from 'vitest';
import type { MemoryDisk } from '../../src/protocol/tools/memory.js';
import { eventually } from '../fakes/eventually.js';
import { diskOf, machineWith, textOf } from './memory-tree.js';

describe('the memory of a session', () => {
  const countReads = async () => {
    const machine = await machineWith({ 'repo/CLAUDE.md': 'one' });
    const disk = diskOf(machine.root);
    let reads = 0;
    const counting: MemoryDisk = {
      ...disk,
      read: (real, limit) => {
        reads += 1;
        return disk.read(real, limit);
      },
    };
    const memory = machine.memory({ disk: counting });
    const loadAndCount = async () => {
      const loaded = await memory.load();
      return { text: textOf(loaded), reads, announced: memory.announced.length };
    };
    return { machine, memory, loadAndCount };
  };

  test('is read only once for several callers', async () => {
    const { memory, loadAndCount } = await countReads();
    const [first, second] = await Promise.all([memory.load(), memory.load()]);
    expect(second).toBe(first);
    expect(await loadAndCount()).toEqual({ text: 'one', reads: 1, announced: 1 });
    expect(memory.announced).toEqual([first]);
  });

  test('is read again after clear(), without an announcement', async () => {
    const { machine, memory, loadAndCount } = await countReads();
    await loadAndCount();
    await machine.add({ 'repo/CLAUDE.md': 'two' });
    expect(await loadAndCount()).toEqual({ text: 'one', reads: 1, announced: 1 });
    memory.clear();
    expect(await loadAndCount()).toEqual({ text: 'two', reads: 2, announced: 1 });
  });

  test('is read again and announced again after reset()', async () => {
    const { memory, loadAndCount } = await countReads();
    await loadAndCount();
    memory.reset();
    expect(await loadAndCount()).toEqual({ text: 'one', reads: 2, announced: 2 });
    expect(await loadAndCount()).toEqual({ text: 'one', reads: 2, announced: 2 });
  });

  test('is announced once if clear() is called during the first load', async () => {
    const { memory, loadAndCount } = await countReads();
    const early = memory.load();
    memory.clear();
    const late = memory.load();
    expect(await early).toEqual(await late);
    expect(await loadAndCount()).toMatchObject({ announced: 1 });
    expect(memory.announced).toEqual([await late]);
  });

  test('has the result of the newest load if an older load ends later', async () => {
    const machine = await machineWith({ 'repo/.claude/rules/a.md': '---\npaths: src\n---\none' });
    const disk = diskOf(machine.root);
    let release = () => {};
    const blocked = new Promise<void>((done) => {
      release = done;
    });
    let reads = 0;
    const memory = machine.memory({
      disk: {
        ...disk,
        read: async (real, limit) => {
          reads += 1;
          const isFirst = reads === 1;
          const bytes = await disk.read(real, limit);
          if (isFirst) await blocked;
          return bytes;
        },
      },
    });
    const outdated = memory.load();
    await eventually('the first load reads', () => reads === 1);
    await machine.add({ 'repo/.claude/rules/a.md': '---\npaths: src\n---\ntwo' });
    memory.clear();
    await memory.load();
    release();
    await outdated;
    expect(memory.rulesFor([machine.at('repo/src/x')]).map(({ text }) => text)).toEqual(['two']);
    expect(memory.announced).toHaveLength(1);
  });

  test('reads and announces no file if memory is disabled', async () => {
    const machine = await machineWith({ 'repo/CLAUDE.md': 'one' });
    const memory = machine.memory({ isDisabled: true });
    expect(await memory.load()).toEqual({ files: [], rules: [], notices: [] });
    expect(memory.announced).toEqual([]);
  });
});

describe('the rules for touched files', () => {
  const rules = async () => {
    const machine = await machineWith({
      'home/.claude/rules/mine.md': '---\npaths: "*.md"\n---\nMine.',
      'repo/.claude/rules/api.md': '---\npaths:\n  - src/api/**\n---\nApi. @../../shared.md',
      'repo/.claude/rules/always.md': '---\ndescription: no paths\n---\nAlways.',
      'repo/.claude/rules/every.md': '---\npaths: "**"\n---\nEvery.',
      'repo/.claude/rules/broken.md': '---\npaths: [\n---\nBroken.',
      'repo/shared.md': 'Shared.',
      'repo/sub/.skein/rules/near.md': '---\npaths: /*.ts\n---\nNear.',
      link: { link: '~~/repo' },
    });
    const memory = machine.memory({ cwd: 'repo/sub', mayInclude: () => true });
    const loaded = await memory.load();
    const rulesOf = (...paths: readonly string[]) =>
      memory.rulesFor(paths.map(machine.at)).map(({ text }) => text.split(' ')[0]);
    return { machine, memory, loaded, rulesOf };
  };

  test('are the rules with matching paths, in reading order', async () => {
    const { rulesOf } = await rules();
    expect(rulesOf('repo/src/api/x.ts')).toEqual(['Api.', 'Shared.']);
    expect(rulesOf('repo/sub/x.ts')).toEqual(['Near.']);
    expect(rulesOf('repo/sub/deep/x.ts')).toEqual([]);
    expect(rulesOf('repo/sub/deep/x.md')).toEqual(['Mine.']);
    expect(rulesOf('repo/sub/x.md', 'repo/sub/y.ts', 'repo/src/api/z.md')).toEqual([
      'Mine.',
      'Api.',
      'Shared.',
      'Near.',
    ]);
  });

  test.each([
    [[]],
    [['repo/other.ts']],
    [['elsewhere/src/api/x.ts']],
    [['repo']],
    [['repo/src/apis/x.ts']],
  ])('do not apply to %j', async (paths) => {
    const { rulesOf } = await rules();
    expect(rulesOf(...paths)).toEqual([]);
  });

  test('stay out of the prompt, unlike rules without paths, and include other files', async () => {
    const { machine, loaded } = await rules();
    expect(loaded.files.map(({ text }) => text)).toEqual(['Always.', 'Broken.', 'Every.']);
    expect(
      loaded.rules.map(({ text, paths, parent }) => [text.split(' ')[0], paths, parent]),
    ).toEqual([
      ['Mine.', ['*.md'], null],
      ['Api.', ['src/api'], null],
      ['Shared.', ['src/api'], machine.at('repo/.claude/rules/api.md')],
      ['Near.', ['/*.ts'], null],
    ]);
    expect(loaded.notices).toEqual([
      `${machine.at('repo/.claude/rules/broken.md')} has front matter that is not YAML; the rule applies to every file.`,
    ]);
  });

  test('are announced with nested memory files, once until a reset', async () => {
    const { machine, memory } = await rules();
    await machine.add({ 'repo/sub/deep/CLAUDE.md': 'Deep.' });
    const touch = async () => {
      const before = memory.announced.length;
      await memory.nearby(['repo/sub/deep/x.md', 'repo/sub/x.ts'].map(machine.at));
      return memory.announced.slice(before).map(({ files, rules }) => {
        return [files, rules].map((all) => all.map(({ text }) => text));
      });
    };
    expect(await touch()).toEqual([[['Deep.'], ['Mine.', 'Near.']]]);
    expect(await touch()).toEqual([]);
    memory.clear();
    expect(await touch()).toEqual([]);
    memory.reset();
    expect((await touch()).at(-1)).toEqual([['Deep.'], ['Mine.', 'Near.']]);
  });

  test('are empty before the first load and stay known after clear()', async () => {
    const { machine, memory } = await rules();
    const touched = [machine.at('repo/src/api/x.ts')];
    expect(machine.memory().rulesFor(touched)).toEqual([]);
    memory.clear();
    expect(memory.rulesFor(touched)).toHaveLength(2);
  });

  test('are found by the real path and by the path through a linked directory', async () => {
    const { machine } = await rules();
    const memory = machine.memory({ cwd: 'link' });
    await memory.load();
    expect(memory.rulesFor([machine.at('link/src/api/x.ts')])).toHaveLength(2);
    expect(memory.rulesFor([machine.at('repo/src/api/x.ts')])).toHaveLength(2);
  });

  test('do not remove a file from the prompt that a memory file includes too', async () => {
    const machine = await machineWith({
      'repo/.claude/rules/a.md': '---\npaths: src\n---\n@../../x.md',
      'repo/CLAUDE.local.md': '@x.md',
      'repo/x.md': 'Both.',
    });
    const { files, rules: conditional } = await machine.load();
    expect(files.map(({ text }) => text)).toEqual(['@x.md', 'Both.']);
    expect(conditional.map(({ text }) => text)).toEqual(['@../../x.md', 'Both.']);
  });
});
