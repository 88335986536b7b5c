import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePlainYaml } from '../../../src/config/agents/parse-plain-yaml.js';
import { parseYaml } from '../../../src/config/agents/parse-yaml.js';

const PLAIN = [
  'name: scout',
  'description: Finds out how other repositories solve a problem, and why; see docs/a.md',
  'tools: Read, Grep, Glob, Bash(git log:*)',
  'maxTurns: 20',
].join('\n');

/** Everything that callers see of parsed front matter. */
const seen = (parsed: ReturnType<typeof parseYaml> | undefined) =>
  parsed === undefined || 'fix' in parsed
    ? parsed
    : {
        fields: parsed.fields,
        lines: [...Object.keys(parsed.fields), 'missing'].flatMap((key) => [
          parsed.lineOf(key),
          parsed.lineOf(key, 0),
        ]),
      };

describe('plain front matter', () => {
  test('is read as YAML reads the same lines', () => {
    expect(seen(parsePlainYaml(PLAIN))).toEqual(seen(parseYaml(PLAIN)));
    expect(seen(parsePlainYaml(`${PLAIN}\n`))).toEqual(seen(parseYaml(`${PLAIN}\n`)));
  });

  test.each([
    '',
    '# comment',
    'a: true',
    'a: Null',
    'yes: a',
    'a: b # comment',
    'a: b: c',
    'a: b:',
    'a: [b]',
    'a: "b"',
    'a: &b c',
    'a: 1.5',
    'a: 010',
    'a: -1',
    'a:',
    'a: b ',
    'a: b\n  c',
    'a: b\r\nc: d',
    'a: b\na: c',
    'a: b\n\nc: d',
    '---\na: b',
  ])('is left to the parser of YAML with %j', (head) => {
    expect(parsePlainYaml(head)).toBeUndefined();
  });

  test('is read as YAML reads any lines that are plain', () => {
    const word = fc.oneof(
      fc.constantFrom(
        'a',
        'Bash(git log:*)',
        'NaN',
        'inf',
        'e1',
        '0',
        '12',
        'b:c',
        "it's",
        '',
        ' ',
      ),
      fc.string({ maxLength: 6 }),
    );
    const text = fc.array(word, { maxLength: 3 }).map((words) => words.join(' '));
    const key = fc.constantFrom('name', 'tools', 'maxTurns', 'constructor', 'a-b', 'NULL');
    const head = fc.array(fc.tuple(key, text), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(head, (lines) => {
        const source = lines.map((line) => line.join(': ')).join('\n');
        const plain = parsePlainYaml(source);
        expect(seen(plain)).toEqual(plain && seen(parseYaml(source)));
      }),
      { numRuns: 2_000 },
    );
  });
});
