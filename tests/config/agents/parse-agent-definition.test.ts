import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAgentDefinition } from '../../../src/config/agents/parse-agent-definition.js';
import type { AgentDefinition } from '../../../src/protocol/agent/agent-definition.js';

const PLACE = { path: '/a/looker.md', source: 'user' } as const;

/** Parses a file with these lines in its front matter, starting at line 4. */
const parse = (...lines: readonly string[]) =>
  parseAgentDefinition(
    ['---', 'name: looker', 'description: Looks', ...lines, '---', 'You look.'].join('\n'),
    PLACE,
  );

const agent = (...lines: readonly string[]): AgentDefinition => {
  const found = parse(...lines);
  if (found === undefined || 'fix' in found) throw new Error(found?.fix ?? 'no agent');
  return found;
};

describe('the front matter of an agent', () => {
  test('may have all these keys', () => {
    const { hooks, ...rest } = agent(
      'tools: Read, Bash',
      'disallowedTools: [WebFetch]',
      'model: haiku',
      'permissionMode: plan',
      'maxTurns: 12',
      'maxBudgetUsd: 0.5',
      'maxBudgetTokens: 50000',
      'skills: pdf, charts',
      'mcpServers:\n  - github\n  - jira',
      'hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks: [{ type: command, command: ./look }]',
      'background: true',
      'isolation: worktree',
      'color: purple',
      'proactive: true',
      'prompt: own',
    );
    expect(rest).toEqual({
      name: 'looker',
      description: 'Looks',
      prompt: 'You look.',
      ...PLACE,
      tools: ['Read', 'Bash'],
      disallowedTools: ['WebFetch'],
      limits: [],
      denials: [],
      model: 'haiku',
      permissionMode: 'plan',
      maxTurns: 12,
      maxBudgetUsd: 0.5,
      maxBudgetTokens: 50_000,
      skills: ['pdf', 'charts'],
      mcpServers: ['github', 'jira'],
      background: true,
      isolation: 'worktree',
      color: 'purple',
      proactive: true,
      ownPrompt: true,
      warnings: ['skills, mcpServers of /a/looker.md: no effect in this version.'],
    });
    expect(hooks).toMatchObject([
      { event: 'PreToolUse', action: { kind: 'command', command: './look' }, timeoutMs: 60_000 },
    ]);
    expect(hooks[0]?.matches('Bash')).toBe(true);
    expect(hooks[0]?.matches('Read')).toBe(false);
  });

  test('may have keys without a value', () => {
    expect(agent('tools:', 'model:', 'hooks:', 'maxTurns: null', 'color: ~')).toEqual(agent());
  });

  test('may request the shared prompt explicitly', () => {
    expect(agent('prompt: shared').ownPrompt).toBe(false);
  });

  test.each([
    ['tools: Bash(git diff:*), Read', { tools: ['Bash', 'Read'], limits: ['Bash(git diff:*)'] }],
    [
      'tools: ["Bash(ls, pwd)", "Bash(a, b)"]',
      { tools: ['Bash'], limits: ['Bash(ls, pwd)', 'Bash(a, b)'] },
    ],
    ['tools: "Bash(*), Edit( : * )"', { tools: ['Bash', 'Edit'], limits: [] }],
    ['tools: Bash(git diff:*), Bash', { tools: ['Bash'], limits: [] }],
    ['tools: "*"', { tools: ['*'], limits: [] }],
    ['tools: mcp__github, mcp__jira__*', { tools: ['mcp__github', 'mcp__jira__*'] }],
    ['tools: ""', { tools: [] }],
    ['tools: Read,, Grep,', { tools: ['Read', 'Grep'] }],
    ['disallowedTools: Bash(rm:*), Write', { disallowedTools: ['Write'], denials: ['Bash(rm:*)'] }],
    ['disallowedTools: Bash(*)', { disallowedTools: ['Bash'], denials: [] }],
  ])('may allow or deny parts of tools: %s', (line, expected) => {
    expect(agent(line)).toMatchObject(expected);
  });

  test.each([
    ['tools: 7', 'tools: write names of tools, such as "Read, Grep", instead of 7'],
    ['tools: [Read, 7]', 'tools: write names of tools, such as "Read, Grep", instead of a list'],
    ['tools: Bash(git', 'instead of the text "Bash(git"'],
    ['tools: rm -rf', 'instead of the text "rm -rf"'],
    ['disallowedTools: {Bash: true}', 'disallowedTools: write names of tools, such as'],
    ['model: [a]', 'model: write the name of a model, or inherit instead of a list'],
    ['permissionMode: yolo', 'permissionMode: write one of default, acceptEdits, plan, dontAsk, '],
    ['maxTurns: 0', 'maxTurns: write a whole number of 1 or more instead of 0'],
    ['maxTurns: many', 'instead of the text "many"'],
    ['maxBudgetUsd: -1', 'maxBudgetUsd: write an amount in US dollars of 0 or more instead of -1'],
    [
      'maxBudgetTokens: 1.5',
      'maxBudgetTokens: write a number of tokens of 0 or more instead of 1.5',
    ],
    ['maxBudgetUsd: .inf', 'maxBudgetUsd: write an amount in US dollars'],
    ['maxBudgetUsd: "$5"', 'instead of the text "$5"'],
    ['skills: {}', 'skills: write names of skills instead of an object'],
    ['mcpServers: [{ a: { command: x } }]', 'mcpServers: write names of servers instead of a list'],
    ['hooks: [1]', 'hooks: write an object of events instead of a list'],
    ['background: later', 'background: write true or false instead of the text "later"'],
    ['isolation: moon', 'isolation: write worktree instead of the text "moon"'],
    ['prompt: mine', 'prompt: write own or shared instead of the text "mine"'],
  ])('with an invalid value is rejected with the line: %s', (line, fix) => {
    expect(parse('', line)).toEqual({
      name: 'looker',
      line: 5,
      fix: expect.stringContaining(fix),
    });
  });

  test('may have an invalid color, with a warning', () => {
    const { color, warnings } = agent('color: [red]');
    expect(color).toBeUndefined();
    expect(warnings).toEqual([
      'color in /a/looker.md, line 4, is ignored: write a color instead of a list.',
    ]);
  });

  test.each([
    ['PreToolUs: []', 'hooks.PreToolUs: did you mean PreToolUse'],
    ['PreToolUse: Bash', 'hooks.PreToolUse: write a list instead of the text "Bash"'],
    [
      'PreToolUse: [{ matcher: "(", hooks: [] }]',
      'hooks.PreToolUse[0].matcher: the text "(" is not a regular expression',
    ],
    [
      'Stop: [{ hooks: [{ command: ./end }, { type: comand, command: ./look }] }]',
      'hooks.Stop[0].hooks[1].type: write "command", the only supported type, instead of the text "comand"',
    ],
  ])('with an invalid hook is rejected because the hook may be a guard: %s', (hook, fix) => {
    expect(parse('hooks:', '  SessionEnd: []', `  ${hook}`)).toEqual({
      name: 'looker',
      line: 6,
      fix: expect.stringContaining(fix),
    });
  });

  test('with unknown keys causes a bounded warning', () => {
    const keys = Array.from({ length: 13 }, (_, index) => `strange${'r'.repeat(90)}${index}: 1`);
    const [warning = '', ...more] = agent('permisionMode: plan', ...keys).warnings;
    expect(more).toEqual([]);
    expect(warning).toContain('not use: permisionMode (did you mean permissionMode?), stranger');
    expect(warning).toMatch(/… and 4 more\.$/);
    expect(warning.length).toBeLessThan(700);
  });

  test.each([['__proto__'], ['constructor'], ['toString'], ['7'], ['hooks']])(
    'may have the name %s',
    (name) => {
      const text = `---\nname: "${name}"\ndescription: Looks\n---\nYou look.`;
      expect(parseAgentDefinition(text, PLACE)).toMatchObject({ name, prompt: 'You look.' });
    },
  );

  test.each([[''], ['../a'], ['/a'], ['-a'], ['ä'], ['a'.repeat(65)], ['a\\nb']])(
    'may not have the name %j',
    (name) => {
      const text = `---\ndescription: Looks\nname: "${name}"\n---\nYou look.`;
      const line = 3;
      const fix = expect.stringContaining('give it a name of letters');
      expect(parseAgentDefinition(text, PLACE)).toEqual({ line, fix });
    },
  );
});

describe('a name with blanks and slashes', () => {
  test('has hyphens instead, with a warning', () => {
    const text = '---\nname: Code  Looker/Finder\ndescription: Looks\n---\nYou look.';
    expect(parseAgentDefinition(text, PLACE)).toMatchObject({
      name: 'Code-Looker-Finder',
      warnings: [
        'The agent of /a/looker.md is called Code-Looker-Finder, because a name has no blanks and slashes.',
      ],
    });
  });
});

describe('a tool name that no tool can have', () => {
  test('is left out of a list with other names, with a warning', () => {
    expect(agent('tools: Read, Some Docs, edit/files')).toMatchObject({
      tools: ['Read', 'edit/files'],
      warnings: ['tools of /a/looker.md: there is no tool the text "Some Docs".'],
    });
  });
});

describe('a document', () => {
  test.each([
    ['without front matter', '# Agents\n\nThis folder has agents.\n'],
    ['with no text', ''],
    ['with rules of dashes', '---\n\nSome text.\n\n---\n\nMore text.\n'],
    ['with an open rule of dashes', '---\n\nSome text.\n'],
    ['with front matter of another program', '---\ntitle: Notes\ntags: [a: b]\n---\nText.'],
  ])('%s is no agent', (_, text) => {
    expect(parseAgentDefinition(text, PLACE)).toBeUndefined();
  });
});

describe('front matter without a closing line ---', () => {
  const text = (end: string) => `---\n\n# A comment\nname: looker\ntools: Read\n${end}`;
  const description = 'description: Looks\n';

  test('ends at a longer line of dashes', () => {
    expect(parseAgentDefinition(text(`${description}------- \nYou look.\n`), PLACE)).toMatchObject({
      name: 'looker',
      tools: ['Read'],
      prompt: 'You look.',
      warnings: [],
    });
  });

  test('is not cut at a longer line of dashes if a line --- follows', () => {
    expect(
      parseAgentDefinition(text(`----\n${description}---\nYou look.`), PLACE),
    ).not.toHaveProperty('prompt');
  });

  test('is named with line and fix if no line of dashes follows', () => {
    expect(parseAgentDefinition(text('You look.\n'), PLACE)).toEqual({
      line: 1,
      fix: 'begin with a line ---, then name and description, then a line ---',
    });
  });
});

describe('front matter that is not valid YAML', () => {
  test('causes a single warning', () => {
    expect(agent('argument: a: b', 'tools: Read')).toMatchObject({
      tools: ['Read'],
      warnings: [
        '/a/looker.md is not valid YAML at line 4 and was read line by line: put the value in quotes, since it has a colon in it.',
        expect.stringContaining('does not know and does not use: argument.'),
      ],
    });
  });

  test('keeps or narrows the rights that the valid file gives', () => {
    const entry = fc.constantFrom('Read', 'Bash', 'Write', 'Bash(git:*)');
    const list = fc.array(entry, { minLength: 1, maxLength: 3 });
    const shape = fc.constantFrom(
      (key: string, names: readonly string[]) => `${key}: ${names.join(', ')}`,
      (key: string, names: readonly string[]) =>
        `${key}: [${names.map((name) => `"${name}"`).join(', ')}]`,
      (key: string, names: readonly string[]) =>
        [`${key}:`, ...names.map((name) => `  - ${name}`)].join('\n'),
      (key: string, names: readonly string[]) =>
        [`${key}:`, ...names.map((name) => `- ${name}`)].join('\n'),
    );
    const broken = fc.constantFrom('x: a: b', 'x: "open', 'x: [', '\tx: 1', 'x: @a', 'no key', '');
    const lines = fc.tuple(shape, list, shape, list, broken, fc.boolean());
    fc.assert(
      fc.property(lines, ([first, tools, second, denied, bad, isFirst]) => {
        const good = [first('tools', tools), second('disallowedTools', denied)];
        const whole = agent(...good);
        const found = parse(...(isFirst ? [bad, ...good] : [...good, bad]));
        if (found === undefined || 'fix' in found) return;
        for (const key of ['tools', 'limits', 'disallowedTools', 'denials'] as const) {
          expect(found[key]).toEqual(whole[key]);
        }
      }),
    );
  });
});

describe('any text', () => {
  test('parses to an agent, to a line with a fix, or to nothing', () => {
    const words = fc.constantFrom(
      '---\n',
      'name: a\n',
      'description: b\n',
      'tools: ',
      'hooks:\n',
      '  Stop: ',
      '[',
      '{',
      'Bash(',
      ')',
      ',',
      '*',
      '&a ',
      '"',
      "'",
      '\t',
      '\n',
      ': ',
      '- ',
      '\u0000',
      '😀',
      '#',
    );
    const text = fc.array(words, { maxLength: 40 }).map((parts) => parts.join(''));
    const anything = fc.oneof(text, fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(anything, (given) => {
        const found = parseAgentDefinition(`---\n${given}`, PLACE);
        if (found === undefined) return;
        const { line, words } =
          'fix' in found
            ? { line: found.line, words: found.fix }
            : { line: 1, words: found.prompt };
        expect(line).toBeGreaterThan(0);
        expect(line).toBeLessThanOrEqual(given.split('\n').length + 1);
        expect(words).not.toBe('');
      }),
      { numRuns: 500 },
    );
  });
});
