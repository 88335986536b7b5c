import { describe, expect, test } from 'vitest';
import type { MemoryDisk } from '../../src/protocol/tools/memory.js';
import { eventually } from '../host/process/processes.js';
import { diskOf, machineWith, textOf } from './memory-tree.js';

describe('The memory of a session', () => {
  const counted = async () => {
    const machine = await machineWith({ 'repo/CLAUDE.md': 'one' });
    const disk = diskOf(machine.root);
    let reads = 0;
    const counting: MemoryDisk = {
      ...disk,
      read: (real, most) => {
        reads += 1;
        return disk.read(real, most);
      },
    };
    const memory = machine.memory({ disk: counting });
    const told = async () => {
      const loaded = await memory.load();
      return { text: textOf(loaded), reads, announced: memory.announced.length };
    };
    return { machine, memory, told };
  };

  test('is read once, whoever asks and how often', async () => {
    const { memory, told } = await counted();
    const [one, two] = await Promise.all([memory.load(), memory.load()]);
    expect(two).toBe(one);
    expect(await told()).toEqual({ text: 'one', reads: 1, announced: 1 });
    expect(memory.announced).toEqual([one]);
  });

  test('is read again once it is cleared, quietly', async () => {
    const { machine, memory, told } = await counted();
    await told();
    await machine.add({ 'repo/CLAUDE.md': 'two' });
    expect(await told()).toEqual({ text: 'one', reads: 1, announced: 1 });
    memory.clear();
    expect(await told()).toEqual({ text: 'two', reads: 2, announced: 1 });
  });

  test('is read again once it is reset, and announced again', async () => {
    const { memory, told } = await counted();
    await told();
    memory.reset();
    expect(await told()).toEqual({ text: 'one', reads: 2, announced: 2 });
    expect(await told()).toEqual({ text: 'one', reads: 2, announced: 2 });
  });

  test('is announced once if it is cleared before it is there', async () => {
    const { memory, told } = await counted();
    const early = memory.load();
    memory.clear();
    const late = memory.load();
    expect(await early).toEqual(await late);
    expect(await told()).toMatchObject({ announced: 1 });
    expect(memory.announced).toEqual([await late]);
  });

  test('is that of the newest walk, even if one that was forgotten ends after it', async () => {
    const machine = await machineWith({ 'repo/.claude/rules/a.md': '---\npaths: src\n---\none' });
    const disk = diskOf(machine.root);
    let release = () => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    let reads = 0;
    const memory = machine.memory({
      disk: {
        ...disk,
        read: async (real, most) => {
          reads += 1;
          const isFirst = reads === 1;
          const bytes = await disk.read(real, most);
          if (isFirst) await held;
          return bytes;
        },
      },
    });
    const forgotten = memory.load();
    await eventually('the first walk reads', () => reads === 1);
    await machine.add({ 'repo/.claude/rules/a.md': '---\npaths: src\n---\ntwo' });
    memory.clear();
    await memory.load();
    release();
    await forgotten;
    expect(memory.rulesFor([machine.at('repo/src/x')]).map(({ text }) => text)).toEqual(['two']);
    expect(memory.announced).toHaveLength(1);
  });

  test('that is disabled reads nothing and announces nothing', async () => {
    const machine = await machineWith({ 'repo/CLAUDE.md': 'one' });
    const memory = machine.memory({ isDisabled: true });
    expect(await memory.load()).toEqual({ files: [], rules: [], notices: [] });
    expect(memory.announced).toEqual([]);
  });
});

describe('The rules for files that were touched', () => {
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
    const about = (...paths: readonly string[]) =>
      memory.rulesFor(paths.map(machine.at)).map(({ text }) => text.split(' ')[0]);
    return { machine, memory, loaded, about };
  };

  test('are those whose paths match, in reading order', async () => {
    const { about } = await rules();
    expect(about('repo/src/api/x.ts')).toEqual(['Api.', 'Shared.']);
    expect(about('repo/sub/x.ts')).toEqual(['Near.']);
    expect(about('repo/sub/deep/x.ts')).toEqual([]);
    expect(about('repo/sub/deep/x.md')).toEqual(['Mine.']);
    expect(about('repo/sub/x.md', 'repo/sub/y.ts', 'repo/src/api/z.md')).toEqual([
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
  ])('are none for %j', async (paths) => {
    const { about } = await rules();
    expect(about(...paths)).toEqual([]);
  });

  test('leave the others in the prompt, with what includes them', async () => {
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

  test('are announced when they join, with what lies near, each once until a reset', async () => {
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

  test('are known before anything is loaded, and after a clear, as they last were', async () => {
    const { machine, memory } = await rules();
    const touched = [machine.at('repo/src/api/x.ts')];
    expect(machine.memory().rulesFor(touched)).toEqual([]);
    memory.clear();
    expect(memory.rulesFor(touched)).toHaveLength(2);
  });

  test('are found by the real path as well as by the name of a linked directory', async () => {
    const { machine } = await rules();
    const memory = machine.memory({ cwd: 'link' });
    await memory.load();
    expect(memory.rulesFor([machine.at('link/src/api/x.ts')])).toHaveLength(2);
    expect(memory.rulesFor([machine.at('repo/src/api/x.ts')])).toHaveLength(2);
  });

  test('do not keep what they include from a file that holds always', async () => {
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
