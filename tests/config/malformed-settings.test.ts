import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJsonTrouble } from '../../src/config/json-trouble.js';
import { UsageError } from '../../src/protocol/errors.js';
import { temporaryFolder } from './folder.js';

const loading = (content: unknown) => {
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
    ['{"a": [1, 2', 1, 12, 'close what is still open'],
    ['{"a": "x', 1, 7, 'close the quote'],
    ['{"a": "C:\\d"}', 1, 7, 'check its backslashes'],
    ['{a: 1}', 1, 2, 'put double quotes around names'],
    ['{"a": yes}', 1, 7, 'put double quotes around names'],
    ['{"a": 01}', 1, 7, 'complete'],
    ['{} {}', 1, 4, 'complete'],
    ['', 1, 1, 'write {} or delete the file'],
    ['[1,]', 1, 4, 'remove the comma before it'],
  ])('ends the command, with the place and the fix: %s', (text, line, column, fix) => {
    const { file, load } = loading(text);
    expect(load).toThrow(UsageError);
    expect(load).toThrow(`${file} is not valid JSON at line ${line}, column ${column}: `);
    expect(load).toThrow(fix);
  });

  test('is found wherever JSON.parse fails, and only inside the text', () => {
    const bits = fc.constantFrom(
      ...['{', '}', '[', ']', ',', ':', '"', '"a"', '1', '-', 'null', ' ', '\\', '\n'],
    );
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 20 }), (parts) => {
        const text = parts.join('');
        const { line, column } = findJsonTrouble(text);
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

describe('a settings file that cannot be used', () => {
  test.each([['[]'], ['"text"'], ['null'], ['12']])('ends the command when it holds %s', (text) => {
    expect(loading(text).load).toThrow('must hold a JSON object');
  });

  test('ends the command when it is larger than 1 MiB', () => {
    expect(loading({ a: 'x'.repeat(2 ** 20) }).load).toThrow('1 MiB');
  });

  test('ends the command when it is a folder or a pipe, instead of waiting', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder.repo, '.claude/settings.json'), { recursive: true });
    expect(() => folder.load()).toThrow('is not a file');
    const other = temporaryFolder();
    mkdirSync(join(other.repo, '.skein'));
    execFileSync('mkfifo', [join(other.repo, '.skein/settings.json')]);
    expect(() => other.load()).toThrow('is not a file');
  });

  test('is read in spite of a byte order mark', () => {
    expect(loading('\uFEFF{"model":"opus"}').load().model?.value).toBe('opus');
  });

  test('is none when .claude is a file', () => {
    const folder = temporaryFolder();
    folder.put('repo/.claude', 'not a folder');
    expect(folder.load().warnings).toEqual([]);
  });
});

describe('a bad value', () => {
  test.each([
    [{ model: 5 }, 'model in FILE is ignored: expected a text, found 5.'],
    [
      { skein: { maxAgents: 'many' } },
      'skein.maxAgents in FILE is ignored: expected a whole number of 0 or more, found the text "many".',
    ],
    [
      { skein: { maxAgents: -1 } },
      'skein.maxAgents in FILE is ignored: expected a whole number of 0 or more, found -1.',
    ],
    [{ skein: [] }, 'skein in FILE is ignored: expected an object, found a list.'],
    [
      { skein: { store: 'mysql://x' } },
      'skein.store in FILE is ignored: expected "embedded" or a URL that begins with redis:// or rediss://, found the text "mysql://x".',
    ],
    [
      { permissions: { allow: 'Read' } },
      'permissions.allow in FILE is ignored: expected a list of texts, found the text "Read".',
    ],
    [
      { permissions: { defaultMode: 'yolo' } },
      'permissions.defaultMode in FILE is ignored: expected one of default, acceptEdits, plan, dontAsk, bypassPermissions, found the text "yolo".',
    ],
    [{ env: { KEY: 7 } }, 'env.KEY in FILE is ignored: expected a name and a text.'],
    [{ env: { 'A=B': 'x' } }, 'env.A=B in FILE is ignored: expected a name and a text.'],
  ])('costs that key and one sentence: %j', (content, warning) => {
    const { file, load } = loading(content);
    expect(load().warnings).toEqual([warning.replace('FILE', file)]);
  });

  test.each([
    [{ permissions: { deny: 'Read' } }, 'permissions.deny'],
    [{ permissions: { ask: [1] } }, 'permissions.ask'],
    [{ permissions: { deny: null } }, 'permissions.deny'],
    [{ permissions: [] }, 'permissions'],
    [{ skein: { maxBudgetUsd: '5 dollars' } }, 'skein.maxBudgetUsd'],
  ])('ends the command where ignoring it would be less safe: %j', (content, key) => {
    const { file, load } = loading(content);
    expect(load).toThrow(UsageError);
    expect(load).toThrow(`${key} in ${file} cannot be used: `);
  });

  test('on the command line or in the environment ends the command', () => {
    const folder = temporaryFolder();
    expect(() => folder.load({ flags: { permissionMode: 'yolo' } })).toThrow(UsageError);
    expect(() => folder.load({ flags: { settings: 'missing.json' } })).toThrow('does not exist');
    expect(() => folder.load({ flags: { settings: '{"a"' } })).toThrow(
      '--settings is not valid JSON',
    );
    expect(() => folder.load({ env: { SKEIN_MAX_AGENTS: 'many' } })).toThrow('SKEIN_MAX_AGENTS');
  });
});

describe('an unknown key', () => {
  test('is kept and told about, never fatal', () => {
    const { file, load } = loading({
      colour: 'red',
      skein: { maxAgent: 3 },
      permissions: { alow: [] },
    });
    const { warnings, others } = load();
    expect(warnings).toEqual([
      `${file} has keys that Skein does not know and does not use: permissions.alow.`,
      `${file} has keys that Skein does not know and does not use: skein.maxAgent.`,
      `${file} has keys that Skein does not know and does not use: colour.`,
    ]);
    expect(others).toEqual([{ value: { colour: 'red' }, source: 'user', file }]);
  });

  test('of other programs is kept without a word', () => {
    const { warnings, others } = loading({ statusLine: { type: 'command' } }).load();
    expect(warnings).toEqual([]);
    expect(others[0]?.value).toEqual({ statusLine: { type: 'command' } });
  });

  test('cannot reach the prototype of anything', () => {
    loading(
      '{"__proto__":{"polluted":1},"env":{"__proto__":"x"},"skein":{"modelAliases":{"__proto__":"y"}}}',
    ).load();
    expect({}).not.toHaveProperty('polluted');
  });
});
