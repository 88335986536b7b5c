import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PromptHistory } from '../../../src/cli/repl/prompt-history.js';
import { temporaryFolder } from '../../config/temporary-folder.js';

const inFolder = () => {
  const file = join(temporaryFolder().path, 'history');
  return { file, open: () => new PromptHistory(file), text: () => readFileSync(file, 'utf8') };
};

describe('earlier prompts', () => {
  test('are stored with their line breaks in a file that only the owner can read', () => {
    const { file, open } = inFolder();
    open().add('one\n  two');
    open().add('three');
    expect(open().entries).toEqual(['one\n  two', 'three']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('are stored without secrets, and are complete during the session', () => {
    const { open, text } = inFolder();
    const history = open();
    history.add('use sk-ant-abcdefgh12345678');
    expect(history.entries).toEqual(['use sk-ant-abcdefgh12345678']);
    expect(text()).not.toContain('abcdefgh12345678');
  });

  test('are not stored if they are empty or repeat the previous prompt', () => {
    const { open, text } = inFolder();
    const history = open();
    for (const prompt of ['a', ' a ', '  ', 'b', 'a']) history.add(prompt);
    expect(text()).toBe('"a"\n"b"\n"a"\n');
  });

  test('are limited in number, in memory and on disk', () => {
    const { open, text } = inFolder();
    const history = open();
    for (let index = 0; index < 2_100; index++) history.add(`prompt ${index}`);
    expect(history.entries).toHaveLength(1_000);
    expect(open().entries[0]).toBe('prompt 1100');
    expect(text().split('\n')).toHaveLength(1_001);
  });

  test('are limited in length', () => {
    const { open } = inFolder();
    const history = open();
    history.add('x'.repeat(10_001));
    history.add('y'.repeat(100_001));
    expect(history.entries.map(({ length }) => length)).toEqual([10_001]);
    expect(open().entries).toEqual([]);
  });

  test('are read from a file with any invalid lines', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.json()), { maxLength: 5 }), (lines) => {
        const { file, open } = inFolder();
        writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
        appendFileSync(file, '"the last"\n"torn');
        expect(open().entries.at(-1)).toBe('the last');
      }),
      { numRuns: 30 },
    );
  });

  test('are kept in memory if the file cannot be used', () => {
    const { file, open } = inFolder();
    mkdirSync(file);
    const history = open();
    history.add('a');
    expect(history.entries).toEqual(['a']);
    expect(new PromptHistory().entries).toEqual([]);
  });
});
