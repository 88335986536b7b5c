import { describe, expect, test } from 'vitest';
import { ruleProblems } from '../../../src/policy/rules/compile-rules.js';
import { UsageError } from '../../../src/protocol/skein-error.js';
import { temporaryFolder } from '../temporary-folder.js';

/** Settings with a mistake from line 4 on, after valid lines that must still apply. */
const settingsWith = (lines: string, place = 'home/.claude/settings.json') => {
  const folder = temporaryFolder();
  const validLines = '{\n  "fallbackModel": "opus",\n  "language": "no",\n';
  const file = folder.put(place, `${validLines}${lines}\n}\n`);
  return { file, load: () => folder.load() };
};

const inPermissions = (lines: string) => `"permissions": {\n"deny": ["Read(.env)"],\n${lines}\n}`;
const inSkein = (lines: string) => `"skein": {\n"maxDepth": 2,\n${lines}\n}`;

describe('a mistake in a settings file that can be ignored', () => {
  test.each([
    [
      'a number instead of a text',
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
      'a list instead of an object',
      '"skein": []',
      'skein in FILE, line 4, is ignored: write an object instead of a list.',
    ],
    [
      'a text instead of an object',
      '"env": "A=1"',
      'env in FILE, line 4, is ignored: write an object instead of the text "A=1".',
    ],
    [
      'a text instead of a number',
      inSkein('"maxAgents": "many"'),
      'skein.maxAgents in FILE, line 6, is ignored: write a whole number of 0 or more instead of the text "many".',
    ],
    [
      'a number below its range',
      inSkein('"maxAgents": -1'),
      'skein.maxAgents in FILE, line 6, is ignored: write a whole number of 0 or more instead of -1.',
    ],
    [
      'a fraction instead of a whole number',
      inSkein('"maxRetries": 1.5'),
      'skein.maxRetries in FILE, line 6, is ignored: write a whole number of 0 or more instead of 1.5.',
    ],
    [
      'a text instead of a boolean',
      inSkein('"simple": "yes"'),
      'skein.simple in FILE, line 6, is ignored: write true or false instead of the text "yes".',
    ],
    [
      'an unknown word',
      inSkein('"effort": "most"'),
      'skein.effort in FILE, line 6, is ignored: write one of low, medium, high, xhigh, max instead of the text "most".',
    ],
    [
      'a URL with another scheme',
      inSkein('"store": "mysql://x"'),
      'skein.store in FILE, line 6, is ignored: write "embedded" or a URL that begins with redis:// or rediss:// instead of the text "mysql://x".',
    ],
    [
      'a list with an invalid host',
      inSkein('"allowPrivateAddresses": ["a/b"]'),
      'skein.allowPrivateAddresses in FILE, line 6, is ignored: write a list of hosts such as localhost or 10.0.0.7:8080 instead of a list.',
    ],
    [
      'an unknown mode',
      inPermissions('"defaultMode": "yolo"'),
      'permissions.defaultMode in FILE, line 6, is ignored: write one of default, acceptEdits, plan, dontAsk, bypassPermissions instead of the text "yolo".',
    ],
    [
      'a text instead of a list of allow rules',
      inPermissions('"allow": "Read"'),
      'permissions.allow in FILE, line 6, is ignored: write a list of texts instead of the text "Read".',
    ],
    [
      'an allow rule that is not a text',
      inPermissions('"allow": [\n"Read",\n{}]'),
      'permissions.allow[1] in FILE, line 8, is ignored: write a text instead of an object.',
    ],
    [
      'a directory that is not a text',
      inPermissions('"additionalDirectories": [\n7]'),
      'permissions.additionalDirectories[0] in FILE, line 7, is ignored: write a text instead of 7.',
    ],
    [
      'a number as environment variable',
      '"env": {\n"PORT": 80}',
      'env.PORT in FILE, line 5, is ignored: put its value between double quotes.',
    ],
    [
      'an environment variable with an invalid name',
      '"env": {\n"A=B": "x"}',
      'env.A=B in FILE, line 5, is ignored: use only letters, digits and _ in its name, and no digit first.',
    ],
    [
      'an environment variable with a NUL character',
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
      'an unknown key',
      '"colour": "red"',
      'colour in FILE, line 4, is unknown and has no effect: check its spelling or remove it.',
    ],
    [
      'a list of rules outside its section',
      '"allow": ["Read"]',
      'allow in FILE, line 4, is unknown and has no effect: move it into permissions.',
    ],
    [
      'a skein key outside its section',
      '"maxAgents": 3',
      'maxAgents in FILE, line 4, is unknown and has no effect: move it into skein.',
    ],
    [
      'a repeated key',
      '"model": "a",\n"model": "b"',
      'model in FILE, line 5, is already in line 4, and only the last one counts: join them.',
    ],
    [
      'a key of the managed policy',
      '"allowManagedHooksOnly": true',
      'allowManagedHooksOnly in FILE, line 4, is ignored: it has an effect only in the managed policy; remove it.',
    ],
    [
      'a text instead of the boolean disableAllHooks',
      '"disableAllHooks": "no"',
      'disableAllHooks in FILE, line 4, is ignored: write true or false instead of the text "no".',
    ],
  ])(
    'drops only its key, and its message has the file, the line and the fix: %s',
    (_, lines, sentence) => {
      const { file, load } = settingsWith(lines);
      const { warnings, fallbackModel, language, rules, skein } = load();
      expect(warnings).toEqual([sentence.replace('FILE', file)]);
      expect([fallbackModel?.value, language?.value]).toEqual(['opus', 'no']);
      const kept = rules.filter(({ behavior }) => behavior === 'deny').map(({ text }) => text);
      expect(kept).toEqual(lines.startsWith('"permissions"') ? ['Read(.env)'] : []);
      expect(skein.maxDepth).toBe(lines.startsWith('"skein": {') ? 2 : 3);
    },
  );

  test.each([
    ['an unclosed parenthesis', 'Read(src', 'the closing parenthesis at its end is missing'],
    [
      'a star after a tool name',
      'Ba*',
      'a * after a tool name is allowed only in mcp__server__* names',
    ],
    ['no tool name', '(npm test)', 'the tool name before the parenthesis is missing'],
    ['an empty rule', ' ', 'the rule is empty; write a tool name such as Read'],
    ['an unclosed bracket', 'Edit([ab)', 'in its path pattern, the bracket "[" is not closed'],
  ])('in an allow rule drops only that rule: %s', (_, text, fix) => {
    const { file, load } = settingsWith(inPermissions(`"allow": [\n"Grep",\n"${text}"]`));
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

  test('is reported at most 20 times', () => {
    const keys = Array.from({ length: 10_000 }, (_, index) => `"key${index}": 1`);
    const { file, load } = settingsWith(keys.join(',\n'));
    const { warnings } = load();
    expect(warnings).toHaveLength(21);
    expect(warnings.at(-1)).toBe(`${file} has 9980 more mistakes.`);
  });

  test('keeps unknown keys, without a warning for keys of other programs', () => {
    const { file, load } = settingsWith('"statusLine": {"type": "command"},\n"colour": "red"');
    const { warnings, others } = load();
    expect(warnings).toHaveLength(1);
    const value = { statusLine: { type: 'command' }, colour: 'red' };
    expect(others).toEqual([{ value, source: 'user', file }]);
  });

  test('cannot change a prototype', () => {
    settingsWith(
      '"__proto__":{"polluted":1},"env":{"__proto__":"x"},"skein":{"modelAliases":{"__proto__":"y"}}',
    ).load();
    expect({}).not.toHaveProperty('polluted');
  });
});

describe('a mistake in a settings file that reduces safety', () => {
  test.each([
    [
      'a text instead of a list of ask rules',
      inPermissions('"ask": "Read"'),
      'permissions.ask in FILE, line 6, cannot be used: write a list of texts instead of the text "Read".',
    ],
    [
      'a deny rule that is not a text',
      '"permissions": {"deny": [\n1]}',
      'permissions.deny[0] in FILE, line 5, cannot be used: write a text instead of 1.',
    ],
    [
      'null instead of a list of deny rules',
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
      'repeated hooks',
      '"hooks": {\n"Stop": [],\n"Stop": []}',
      'hooks.Stop in FILE, line 6, is already in line 5, and only the last one counts: join them.',
    ],
    [
      'a text instead of a budget',
      inSkein('"maxBudgetUsd": "5 dollars"'),
      'skein.maxBudgetUsd in FILE, line 6, cannot be used: write an amount in US dollars of 0 or more instead of the text "5 dollars".',
    ],
    [
      'an invalid value of disableBypassPermissionsMode',
      inPermissions('"disableBypassPermissionsMode": true'),
      'permissions.disableBypassPermissionsMode in FILE, line 6, cannot be used: write the text "disable" instead of true.',
    ],
  ])('ends the command: %s', (_, lines, sentence) => {
    const { file, load } = settingsWith(lines);
    expect(load).toThrow(UsageError);
    expect(load).toThrow(sentence.replace('FILE', file));
  });

  test.each([
    ['an unknown mode', inPermissions('"defaultMode": "yolo"')],
    ['a text instead of a boolean', '"allowManagedPermissionRulesOnly": "yes"'],
  ])('ends the command in a managed policy: %s', (_, lines) => {
    const { file, load } = settingsWith(lines, 'managed.json');
    expect(load).toThrow(`in ${file}, line `);
  });

  test('in a deny rule is fatal', () => {
    const { file, load } = settingsWith('"permissions": {"deny": [\n"Bash(rm"]}');
    const [problem] = ruleProblems(load().rules);
    expect([problem?.fatal, problem?.message]).toEqual([
      true,
      `The deny rule "Bash(rm" in ${file}, line 5, cannot be read: the closing parenthesis at its end is missing. It protects nothing until it is fixed.`,
    ]);
  });

  test('in the mode ends the command only if a looser mode would apply', () => {
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

  test('on the command line or in the environment always ends the command', () => {
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
