import { describe, expect, test } from 'vitest';
import { ruleProblems } from '../../../src/policy/rules/compile-rules.js';
import { UsageError } from '../../../src/protocol/skein-error.js';
import { temporaryFolder } from '../temporary-folder.js';

/** Settings whose mistake begins in line 4, after a rule and a model that must still apply. */
const mistaken = (lines: string, place = 'home/.claude/settings.json') => {
  const folder = temporaryFolder();
  const sound = '{\n  "fallbackModel": "opus",\n  "language": "no",\n';
  const file = folder.put(place, `${sound}${lines}\n}\n`);
  return { file, load: () => folder.load() };
};

const inPermissions = (lines: string) => `"permissions": {\n"deny": ["Read(.env)"],\n${lines}\n}`;
const inSkein = (lines: string) => `"skein": {\n"maxDepth": 2,\n${lines}\n}`;

describe('a mistake in a settings file that may be ignored', () => {
  test.each([
    [
      'a number for a text',
      '"model": 5',
      'model in FILE, line 4, is ignored: write a text instead of 5.',
    ],
    [
      'an empty text',
      '"model": ""',
      'model in FILE, line 4, is ignored: write a text instead of the text "".',
    ],
    [
      'null',
      '"outputStyle": null',
      'outputStyle in FILE, line 4, is ignored: write a text of at most 100 characters in one line instead of null.',
    ],
    [
      'a list for an object',
      '"skein": []',
      'skein in FILE, line 4, is ignored: write an object instead of a list.',
    ],
    [
      'a text for an object',
      '"env": "A=1"',
      'env in FILE, line 4, is ignored: write an object instead of the text "A=1".',
    ],
    [
      'words for a number',
      inSkein('"maxAgents": "many"'),
      'skein.maxAgents in FILE, line 6, is ignored: write a whole number of 0 or more instead of the text "many".',
    ],
    [
      'a number below its range',
      inSkein('"maxAgents": -1'),
      'skein.maxAgents in FILE, line 6, is ignored: write a whole number of 0 or more instead of -1.',
    ],
    [
      'a fraction for a whole number',
      inSkein('"maxRetries": 1.5'),
      'skein.maxRetries in FILE, line 6, is ignored: write a whole number of 0 or more instead of 1.5.',
    ],
    [
      'a text for a switch',
      inSkein('"simple": "yes"'),
      'skein.simple in FILE, line 6, is ignored: write true or false instead of the text "yes".',
    ],
    [
      'an unknown word',
      inSkein('"effort": "most"'),
      'skein.effort in FILE, line 6, is ignored: write one of low, medium, high, xhigh, max instead of the text "most".',
    ],
    [
      'an address of another kind',
      inSkein('"store": "mysql://x"'),
      'skein.store in FILE, line 6, is ignored: write "embedded" or a URL that begins with redis:// or rediss:// instead of the text "mysql://x".',
    ],
    [
      'a list with something else in it',
      inSkein('"allowPrivateAddresses": ["a/b"]'),
      'skein.allowPrivateAddresses in FILE, line 6, is ignored: write a list of hosts such as localhost or 10.0.0.7:8080 instead of a list.',
    ],
    [
      'an unknown mode',
      inPermissions('"defaultMode": "yolo"'),
      'permissions.defaultMode in FILE, line 6, is ignored: write one of default, acceptEdits, plan, dontAsk, bypassPermissions instead of the text "yolo".',
    ],
    [
      'a text for a list of allow rules',
      inPermissions('"allow": "Read"'),
      'permissions.allow in FILE, line 6, is ignored: write a list of texts instead of the text "Read".',
    ],
    [
      'one allow rule that is no text',
      inPermissions('"allow": [\n"Read",\n{}]'),
      'permissions.allow[1] in FILE, line 8, is ignored: write a text instead of an object.',
    ],
    [
      'a directory that is no text',
      inPermissions('"additionalDirectories": [\n7]'),
      'permissions.additionalDirectories[0] in FILE, line 7, is ignored: write a text instead of 7.',
    ],
    [
      'a variable with a number',
      '"env": {\n"PORT": 80}',
      'env.PORT in FILE, line 5, is ignored: put its value between double quotes.',
    ],
    [
      'a variable with a bad name',
      '"env": {\n"A=B": "x"}',
      'env.A=B in FILE, line 5, is ignored: use only letters, digits and _ in its name, and no digit first.',
    ],
    [
      'a variable that holds a NUL',
      '"env": {\n"A": "\\u0000"}',
      'env.A in FILE, line 5, is ignored: remove the character \\u0000 from its value.',
    ],
    [
      'a misspelt key',
      '"modle": "opus"',
      'modle in FILE, line 4, is unknown and has no effect: did you mean model?',
    ],
    [
      'a misspelt key in a section',
      inSkein('"maxAgent": 3'),
      'skein.maxAgent in FILE, line 6, is unknown and has no effect: did you mean skein.maxAgents?',
    ],
    [
      'a misspelt list of rules',
      inPermissions('"Deny": ["Bash"]'),
      'permissions.Deny in FILE, line 6, is unknown and has no effect: did you mean permissions.deny?',
    ],
    [
      'a long misspelt key',
      inPermissions('"additionaldirectory": []'),
      'permissions.additionaldirectory in FILE, line 6, is unknown and has no effect: check its spelling or remove it.',
    ],
    [
      'a key that nobody knows',
      '"colour": "red"',
      'colour in FILE, line 4, is unknown and has no effect: check its spelling or remove it.',
    ],
    [
      'a list of rules outside of its section',
      '"allow": ["Read"]',
      'allow in FILE, line 4, is unknown and has no effect: move it into permissions.',
    ],
    [
      'one of our keys outside of its section',
      '"maxAgents": 3',
      'maxAgents in FILE, line 4, is unknown and has no effect: move it into skein.',
    ],
    [
      'a key that is there twice',
      '"model": "a",\n"model": "b"',
      'model in FILE, line 5, is already in line 4, and only the last one counts: join them.',
    ],
    [
      'a switch of the managed policy',
      '"allowManagedHooksOnly": true',
      'allowManagedHooksOnly in FILE, line 4, is ignored: it has an effect only in the managed policy; remove it.',
    ],
    [
      'a text for the switch of hooks',
      '"disableAllHooks": "no"',
      'disableAllHooks in FILE, line 4, is ignored: write true or false instead of the text "no".',
    ],
  ])('names the file, the line and the fix, and costs that key only: %s', (_, lines, sentence) => {
    const { file, load } = mistaken(lines);
    const { warnings, fallbackModel, language, rules, skein } = load();
    expect(warnings).toEqual([sentence.replace('FILE', file)]);
    expect([fallbackModel?.value, language?.value]).toEqual(['opus', 'no']);
    const kept = rules.filter(({ behavior }) => behavior === 'deny').map(({ text }) => text);
    expect(kept).toEqual(lines.startsWith('"permissions"') ? ['Read(.env)'] : []);
    expect(skein.maxDepth).toBe(lines.startsWith('"skein": {') ? 2 : 3);
  });

  test.each([
    [
      'a parenthesis that is not closed',
      'Read(src',
      'the closing parenthesis at its end is missing',
    ],
    ['a star after a tool', 'Ba*', 'a * after a tool name is allowed only in mcp__server__* names'],
    ['no tool', '(npm test)', 'the tool name before the parenthesis is missing'],
    ['an empty rule', ' ', 'the rule is empty; write a tool name such as Read'],
    [
      'a bracket that is not closed',
      'Edit([ab)',
      'in its path pattern, the bracket "[" is not closed',
    ],
  ])('is an allow rule that cannot be read, and costs that rule only: %s', (_, text, fix) => {
    const { file, load } = mistaken(inPermissions(`"allow": [\n"Grep",\n"${text}"]`));
    const { rules, warnings } = load();
    expect(warnings).toEqual([]);
    const problems = ruleProblems(rules);
    expect(problems.map(({ message, fatal }) => [message, fatal])).toEqual([
      [
        `The allow rule "${text}" in ${file}, line 8, cannot be read: ${fix}. It is ignored.`,
        false,
      ],
    ]);
  });

  test('is told of no more often than anybody reads', () => {
    const keys = Array.from({ length: 10_000 }, (_, index) => `"key${index}": 1`);
    const { file, load } = mistaken(keys.join(',\n'));
    const { warnings } = load();
    expect(warnings).toHaveLength(21);
    expect(warnings.at(-1)).toBe(`${file} has 9980 more mistakes.`);
  });

  test('keeps what it does not know, and says nothing of the keys of other programs', () => {
    const { file, load } = mistaken('"statusLine": {"type": "command"},\n"colour": "red"');
    const { warnings, others } = load();
    expect(warnings).toHaveLength(1);
    const value = { statusLine: { type: 'command' }, colour: 'red' };
    expect(others).toEqual([{ value, source: 'user', file }]);
  });

  test('cannot reach the prototype of anything', () => {
    mistaken(
      '"__proto__":{"polluted":1},"env":{"__proto__":"x"},"skein":{"modelAliases":{"__proto__":"y"}}',
    ).load();
    expect({}).not.toHaveProperty('polluted');
  });
});

describe('a mistake in a settings file that would make things less safe', () => {
  test.each([
    [
      'a text for a list of deny rules',
      inPermissions('"ask": "Read"'),
      'permissions.ask in FILE, line 6, cannot be used: write a list of texts instead of the text "Read".',
    ],
    [
      'one deny rule that is no text',
      '"permissions": {"deny": [\n1]}',
      'permissions.deny[0] in FILE, line 5, cannot be used: write a text instead of 1.',
    ],
    [
      'no list of deny rules',
      '"permissions": {"deny": null}',
      'permissions.deny in FILE, line 4, cannot be used: write a list of texts instead of null.',
    ],
    [
      'a list of permissions',
      '"permissions": []',
      'permissions in FILE, line 4, cannot be used: write an object instead of a list.',
    ],
    [
      'a second list of deny rules',
      inPermissions('"deny": []'),
      'permissions.deny in FILE, line 6, is already in line 5, and only the last one counts: join them.',
    ],
    [
      'a second section of permissions',
      `${inPermissions('"ask": []')},\n"permissions": {}`,
      'permissions in FILE, line 8, is already in line 4, and only the last one counts: join them.',
    ],
    [
      'hooks that are there twice',
      '"hooks": {\n"Stop": [],\n"Stop": []}',
      'hooks.Stop in FILE, line 6, is already in line 5, and only the last one counts: join them.',
    ],
    [
      'a budget in words',
      inSkein('"maxBudgetUsd": "5 dollars"'),
      'skein.maxBudgetUsd in FILE, line 6, cannot be used: write an amount in US dollars of 0 or more instead of the text "5 dollars".',
    ],
    [
      'a barrier that is none',
      inPermissions('"disableBypassPermissionsMode": true'),
      'permissions.disableBypassPermissionsMode in FILE, line 6, cannot be used: write the text "disable" instead of true.',
    ],
  ])('ends the command: %s', (_, lines, sentence) => {
    const { file, load } = mistaken(lines);
    expect(load).toThrow(UsageError);
    expect(load).toThrow(sentence.replace('FILE', file));
  });

  test.each([
    ['an unknown mode', inPermissions('"defaultMode": "yolo"')],
    ['a switch that is none', '"allowManagedPermissionRulesOnly": "yes"'],
  ])('ends the command in a managed policy: %s', (_, lines) => {
    const { file, load } = mistaken(lines, 'managed.json');
    expect(load).toThrow(`in ${file}, line `);
  });

  test('is a deny rule that cannot be read', () => {
    const { file, load } = mistaken('"permissions": {"deny": [\n"Bash(rm"]}');
    const [problem] = ruleProblems(load().rules);
    expect([problem?.fatal, problem?.message]).toEqual([
      true,
      `The deny rule "Bash(rm" in ${file}, line 5, cannot be read: the closing parenthesis at its end is missing. It protects nothing until it is fixed.`,
    ]);
  });

  test('is an unknown mode that would leave a looser one in force, and not one that would not', () => {
    const folder = temporaryFolder();
    folder.put('home/.claude/settings.json', { permissions: { defaultMode: 'plan' } });
    const file = folder.put('home/.skein/settings.json', { permissions: { defaultMode: 'plann' } });
    expect(folder.load().mode.value).toBe('plan');
    folder.put('home/.claude/settings.json', { permissions: { defaultMode: 'acceptEdits' } });
    expect(() => folder.load()).toThrow(
      `permissions.defaultMode in ${file}, line 1, cannot be used`,
    );
    expect(folder.load({ flags: { permissionMode: 'dontAsk' } }).mode.value).toBe('dontAsk');
  });

  test('is whatever was typed just now', () => {
    const folder = temporaryFolder();
    expect(() => folder.load({ flags: { permissionMode: 'yolo' } })).toThrow(
      'permissions.defaultMode in the command line cannot be used: write one of default,',
    );
    expect(() => folder.load({ flags: { settings: 'missing.json' } })).toThrow('does not exist');
    expect(() => folder.load({ flags: { settings: '{"a"' } })).toThrow(
      '--settings is not valid JSON',
    );
    expect(() => folder.load({ flags: { settings: '{"model":5}' } })).toThrow(
      'model in --settings cannot be used: write a text instead of 5.',
    );
    expect(() => folder.load({ flags: { settings: '{\n"model":5}' } })).toThrow(
      'model in --settings, line 2, cannot be used',
    );
    expect(() => folder.load({ env: { SKEIN_MAX_AGENTS: 'many' } })).toThrow('SKEIN_MAX_AGENTS');
  });
});
