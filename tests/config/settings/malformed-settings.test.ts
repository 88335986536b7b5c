import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJsonError } from '../../../src/config/json/json-error.js';
import { UsageError } from '../../../src/protocol/skein-error.js';
import { temporaryFolder } from '../temporary-folder.js';

const settingsFile = (content: unknown) => {
  const folder = temporaryFolder();
  const file = folder.put('home/.claude/settings.json', content);
  return { file, load: () => folder.load() };
};

describe('a settings file that is not JSON', () => {
  test.each([
    ['{"a": 1,}', 1, 9, 'remove the comma before it'],
    ['{\n  // note\n}', 2, 3, 'remove the comment'],
    ["{'a': 1}", 1, 2, 'use double quotes'],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'put a comma before it'],
    ['{"a": [1, 2', 1, 12, 'add the missing quote, bracket or brace'],
    ['{"a": "x', 1, 7, 'close the quote'],
    ['{"a": "C:\\d"}', 1, 7, 'check its backslashes'],
    ['{a: 1}', 1, 2, 'put double quotes around names'],
    ['{"a": yes}', 1, 7, 'put double quotes around names'],
    ['{"a": 01}', 1, 7, 'complete'],
    ['{} {}', 1, 4, 'complete'],
    ['', 1, 1, 'write {} or delete the file'],
    ['[1,]', 1, 4, 'remove the comma before it'],
  ])('ends the command with the position and the fix: %s', (text, line, column, fix) => {
    const { file, load } = settingsFile(text);
    expect(load).toThrow(UsageError);
    expect(load).toThrow(`${file} is not valid JSON at line ${line}, column ${column}: `);
    expect(load).toThrow(fix);
  });

  test('has an error position inside the text if JSON.parse fails', () => {
    const bits = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '1',
      '-',
      'null',
      ' ',
      '\\',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 20 }), (parts) => {
        const text = parts.join('');
        const { line, column } = findJsonError(text);
        const offset =
          text
            .split('\n')
            .slice(0, line - 1)
            .join('\n').length +
          column -
          (line > 1 ? 0 : 1);
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        expect(valid ? text.slice(offset) : '').toBe('');
        expect(offset).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('an unusable settings file', () => {
  test.each([['[]'], ['"text"'], ['null'], ['12']])(
    'ends the command if it contains %s',
    (text) => {
      expect(settingsFile(text).load).toThrow('must contain a JSON object');
    },
  );

  test('ends the command if it is larger than 1 MiB', () => {
    expect(settingsFile({ a: 'x'.repeat(2 ** 20) }).load).toThrow('1 MiB');
  });

  test('ends the command without blocking if it is a folder or a pipe', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder.repo, '.claude/settings.json'), { recursive: true });
    expect(() => folder.load()).toThrow('is not a regular file');
    const withPipe = temporaryFolder();
    mkdirSync(join(withPipe.repo, '.skein'));
    execFileSync('mkfifo', [join(withPipe.repo, '.skein/settings.json')]);
    expect(() => withPipe.load()).toThrow('is not a regular file');
  });

  test('does not end the command if it is the empty folder with which a sandbox protects .mcp.json', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder.repo, '.mcp.json'));
    expect(folder.load().warnings).toEqual([]);
    mkdirSync(join(folder.repo, '.mcp.json/sub'));
    expect(() => folder.load()).toThrow('is not a regular file');
  });

  test('ends the command if it is nested too deeply', () => {
    const deep = `{"hooks":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    expect(settingsFile(deep).load).toThrow('is nested 200001 levels deep; the limit is 64');
  });

  test('is read if it starts with a byte order mark', () => {
    expect(settingsFile('\uFEFF{"model":"opus"}').load().model?.value).toBe('opus');
  });

  test('is ignored if .claude is a file', () => {
    const folder = temporaryFolder();
    folder.put('repo/.claude', 'not a folder');
    expect(folder.load().warnings).toEqual([]);
  });
});
