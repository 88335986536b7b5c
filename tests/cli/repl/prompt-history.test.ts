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
  test('outlive the session, with their lines, and are for their owner alone', () => {
    const { file, open } = inFolder();
    open().add('one\n  two');
    open().add('three');
    expect(open().entries).toEqual(['one\n  two', 'three']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('are kept without secrets, and are whole while the session lasts', () => {
    const { open, text } = inFolder();
    const history = open();
    history.add('use sk-ant-abcdefgh12345678');
    expect(history.entries).toEqual(['use sk-ant-abcdefgh12345678']);
    expect(text()).not.toContain('abcdefgh12345678');
  });

  test('are not kept twice in a row, nor when they are empty', () => {
    const { open, text } = inFolder();
    const history = open();
    for (const prompt of ['a', ' a ', '  ', 'b', 'a']) history.add(prompt);
    expect(text()).toBe('"a"\n"b"\n"a"\n');
  });

  test('are bounded in number, on disk too', () => {
    const { open, text } = inFolder();
    const history = open();
    for (let index = 0; index < 2_100; index++) history.add(`prompt ${index}`);
    expect(history.entries).toHaveLength(1_000);
    expect(open().entries[0]).toBe('prompt 1100');
    expect(text().split('\n')).toHaveLength(1_001);
  });

  test('are bounded in length', () => {
    const { open } = inFolder();
    const history = open();
    history.add('x'.repeat(10_001));
    history.add('y'.repeat(100_001));
    expect(history.entries.map(({ length }) => length)).toEqual([10_001]);
    expect(open().entries).toEqual([]);
  });

  test('survive whatever the file holds', () => {
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

  test('are optional: a file that cannot be used is no error', () => {
    const { file, open } = inFolder();
    mkdirSync(file);
    const history = open();
    history.add('a');
    expect(history.entries).toEqual(['a']);
    expect(new PromptHistory().entries).toEqual([]);
  });
});
