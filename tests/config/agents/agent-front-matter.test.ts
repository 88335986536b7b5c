import { describe, expect, test } from 'vitest';
import { parseAgentFrontMatter } from '../../../src/config/agents/agent-front-matter.js';

const FIELDS = ['name', 'description', 'tools', 'disallowedTools', 'maxTurns', 'hooks'];
const parse = (head: string) => parseAgentFrontMatter(head, FIELDS);

describe('the front matter of an agent', () => {
  // All cases run in the same process, which would run out of memory if the texts were parsed.
  test.each(['[', '{', '? ', '- ', '{"a":'])('is rejected with thousands of %j', (mark) => {
    expect(parse(mark.repeat(1_600))).toEqual({
      line: 2,
      fix: 'use fewer levels of nesting',
    });
  });

  test('is read with a few levels of nesting', () => {
    expect(parse('a: {b: [c]}')).toMatchObject({ fields: { a: { b: ['c'] } } });
  });

  test('is rejected above the maximum length', () => {
    const keys = Array.from({ length: 2_000 }, (_, n) => `k${n}:`).join('\n');
    expect(parse(keys)).toEqual({
      line: 2,
      fix: 'write at most 8192 characters above the second line ---',
    });
  });
});

describe('front matter that is not valid YAML', () => {
  test('is read line by line, with the mistake', () => {
    const head = [
      'name: scout',
      'description: Use it: always, and "never" alone: so',
      'tools:',
      '  - Read',
      '  - Grep',
      'maxTurns: 20',
      'hooks: { Stop: [] }',
      'author: me',
    ];
    expect(parse(`${head.join('\n')}\n`)).toMatchObject({
      fields: {
        name: 'scout',
        description: 'Use it: always, and "never" alone: so',
        tools: ['Read', 'Grep'],
        maxTurns: 20,
        hooks: { Stop: [] },
        author: 'me',
      },
      mistake: { line: 3, fix: 'put the value in quotes, since it has a colon in it' },
    });
  });

  test('has the line of each field', () => {
    const read = parse('name: a\ndescription: b: c\n\ntools: Read\n');
    if ('fix' in read) throw new Error(read.fix);
    expect([read.lineOf('name'), read.lineOf('tools'), read.lineOf('hooks')]).toEqual([2, 5, 1]);
  });

  test('may have a description with examples on lines of their own', () => {
    const head =
      'name: a\ndescription: Use it: so\n\n<example>\nContext: x\nuser: "y"\n</example>\ntools: Read\n';
    expect(parse(head)).toMatchObject({
      fields: {
        name: 'a',
        description: 'Use it: so\n\n<example>\nContext: x\nuser: "y"\n</example>',
        tools: 'Read',
      },
    });
  });

  test.each([
    ['quotes around a value', 'name: a\ndescription: "Say "x": y"\n', 'Say "x": y'],
    ['no blank after the colon of a field', 'name:a\ndescription: x: y\n', 'x: y'],
  ])('may have %s', (_, head, description) => {
    expect(parse(head)).toMatchObject({ fields: { name: 'a', description } });
  });

  // A part of such a value would give the agent more rights than its file says.
  test.each([
    ['a list with a tab', 'disallowedTools:\n\t- Bash\n', 5, 'indent with spaces'],
    ['a list that is not closed', 'disallowedTools: [Bash,\n  Write\n', 5, 'end with a ]'],
    ['a line with blanks before it', '  disallowedTools: Bash\n', 4, 'remove the blanks'],
    ['two different lines', 'tools: Read\ntools: Bash\n', 5, 'keep one of the two lines'],
  ])('is rejected if a field that is not text has %s', (_, lines, line, fix) => {
    const read = parse(`name: a\ndescription: b: c\n${lines}`);
    expect(read).toMatchObject({ line, fix: expect.stringContaining(fix) });
  });

  test('may repeat a line, and an unknown key', () => {
    const head = 'name: a\ndescription: b: c\ntools: Read\ntools: Read\nx: 1\nx: 2\n';
    expect(parse(head)).toMatchObject({ fields: { tools: 'Read', x: 1 } });
  });
});
