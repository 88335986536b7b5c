import { describe, expect, test } from 'vitest';
import { readAgentsFlag } from '../../../src/config/agents/read-agents-flag.js';
import { UsageError } from '../../../src/protocol/skein-error.js';

const read = (value: unknown) => readAgentsFlag(JSON.stringify(value));

const LOOKER = { description: 'Looks', prompt: 'You look.' };

describe('agents of the --agents flag', () => {
  test('are defined by an object per name', () => {
    const [looker, writer] = read({
      looker: LOOKER,
      writer: {
        ...LOOKER,
        tools: ['Read', 'Write'],
        disallowedTools: 'Bash',
        model: 'inherit',
        permissionMode: 'acceptEdits',
        maxTurns: 3,
        skills: ['a'],
        mcpServers: ['b'],
        maxBudgetUsd: 0.25,
        maxBudgetTokens: 9_000,
        background: true,
        isolation: 'worktree',
        color: 'red',
        hooks: { Stop: [{ hooks: [{ type: 'command', command: './end' }] }] },
      },
    });
    expect(looker).toEqual({
      ...LOOKER,
      name: 'looker',
      path: '--agents (looker)',
      source: 'command',
      disallowedTools: [],
      limits: [],
      denials: [],
      skills: [],
      mcpServers: [],
      hooks: [],
      background: false,
      proactive: false,
      ownPrompt: false,
      warnings: [],
    });
    expect(writer).toMatchObject({
      name: 'writer',
      tools: ['Read', 'Write'],
      disallowedTools: ['Bash'],
      maxTurns: 3,
      maxBudgetUsd: 0.25,
      maxBudgetTokens: 9_000,
      permissionMode: 'acceptEdits',
      skills: ['a'],
      mcpServers: ['b'],
      background: true,
      isolation: 'worktree',
      color: 'red',
      hooks: [{ event: 'Stop' }],
      warnings: ['skills, mcpServers of --agents (writer): no effect in this version.'],
    });
    expect(writer?.model).toBeUndefined();
    expect(read({})).toEqual([]);
  });

  test('may have their own prompt', () => {
    expect(read({ looker: { ...LOOKER, ownPrompt: true } })[0]?.ownPrompt).toBe(true);
    expect(read({ looker: LOOKER })[0]?.ownPrompt).toBe(false);
  });

  test('may have names of object properties', () => {
    const text = `{"__proto__": ${JSON.stringify(LOOKER)}, "toString": ${JSON.stringify(LOOKER)}}`;
    expect(readAgentsFlag(text).map(({ name }) => name)).toEqual(['__proto__', 'toString']);
  });

  test('have a warning about unknown keys', () => {
    expect(read({ looker: { ...LOOKER, maxTurn: 3 } })[0]?.warnings).toEqual([
      '--agents (looker) has keys that Skein does not know and does not use: maxTurn (did you mean maxTurns?).',
    ]);
  });

  test.each([
    ['{"looker": ', '--agents is not valid JSON at line 1'],
    ['agents.json', '--agents is not valid JSON at line 1'],
    ['[]', '--agents must contain a JSON object'],
    ['null', '--agents must contain a JSON object'],
    [
      '{"a": 1}',
      '--agents, entry "a", must be an object with description and prompt instead of 1.',
    ],
    ['{"a": {"prompt": "x"}}', '--agents, entry "a", cannot be used: say when to choose it'],
    [
      '{"a": {"description": "x"}}',
      'entry "a", cannot be used: prompt: write the instructions for the agent instead of nothing.',
    ],
    ['{"a": {"description": "x", "prompt": " "}}', 'instead of the text " ".'],
    ['{"a b": {"description": "x", "prompt": "y"}}', 'entry "a b", cannot be used: name it with'],
    [
      '{"a": {"description": "x", "prompt": "y", "tools": 7}}',
      '--agents, entry "a", cannot be used: tools: write names of tools, such as "Read, Grep", instead of 7.',
    ],
    [
      '{"a": {"description": "x", "prompt": "y", "hooks": {"PreTolUse": []}}}',
      '--agents, entry "a", cannot be used: hooks.PreTolUse: did you mean PreToolUse.',
    ],
    ['{"a": {}, "a": {}}', '--agents has a twice: keep only one.'],
    [
      '{"a": {"description": "x", "prompt": "y", "hooks": {"Stop": [], "Stop": []}}}',
      '--agents has a.hooks.Stop twice: keep only one.',
    ],
    [`{"a": ${'['.repeat(70)}${']'.repeat(70)}}`, 'levels deep'],
  ])('are rejected with the entry and the fix: %s', (text, sentence) => {
    expect(() => readAgentsFlag(text)).toThrow(UsageError);
    expect(() => readAgentsFlag(text)).toThrow(sentence);
  });

  test('are limited in number and length', () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`a${n}`, LOOKER]));
    expect(() => read(many)).toThrow('--agents describes 101 agents; the limit is 100');
    expect(() => read({ a: { ...LOOKER, prompt: 'x'.repeat(102_401) } })).toThrow(
      'has a prompt of 102401 characters; the limit is 102400',
    );
  });
});
