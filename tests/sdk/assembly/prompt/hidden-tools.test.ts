import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forbiddenTools } from '../../../../src/policy/rules/forbidden-tools.js';
import { teammateTask } from '../../../../src/prompt/messages/role-text.js';
import { repositoryText } from '../../../../src/prompt/system/system-context.js';
import type { RunOptions } from '../../../../src/sdk/assembly/options/run-options.js';
import { shownTools } from '../../../../src/sdk/assembly/prompt/context-provider.js';
import { dryRunPrompt } from '../../../../src/sdk/sessions/dry-run-prompt.js';
import { builtinTools } from '../../../../src/tools/builtin-tools.js';
import { bash, mcp, policyOf, read, rule, write } from '../../../policy/policy-fixtures.js';

const ALL = builtinTools.map(({ name }) => name);

/** Sentences in which the name of a tool is an ordinary verb. */
const VERBS = [
  'Read a file before you change it',
  'Write code that treats',
  'Write down in your own words',
  'Write temporary files',
];

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'skein-hidden-'));
  mkdirSync(join(folder, '.skein'));
  const settings = { skein: { webSearch: true } };
  writeFileSync(join(folder, '.skein', 'settings.json'), JSON.stringify(settings));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the names of the tools in the first request, and all its text. */
const promptOf = async (flags: RunOptions) => {
  const host = {
    env: { SKEIN_HOME: join(folder, '.skein') },
    home: folder,
    cwd: folder,
    platform: 'linux',
    watchdog: [],
    notify: () => undefined,
  } as const;
  const { head, preamble } = await dryRunPrompt(host, flags, true);
  const text = `${head.tools}\n${head.system}\n${preamble.text}`;
  return { shown: shownTools(head.tools), text };
};

const mentions = (text: string, tools: readonly string[]): readonly string[] => {
  const rest = VERBS.reduce((left, verb) => left.replaceAll(verb, ''), text);
  return tools.filter((name) => new RegExp(`\\b${name}\\b`).test(rest));
};

describe('a tool that a rule forbids outright', () => {
  test('is in the prompt if no rule forbids it', async () => {
    const { shown, text } = await promptOf({});
    expect(shown).toEqual(ALL);
    expect(mentions(text, ALL)).toEqual(ALL);
  });

  test.each(ALL)('is neither shown nor mentioned: %s', async (name) => {
    for (const permissionMode of ['default', 'plan']) {
      const { shown, text } = await promptOf({ disallowedTools: [name], permissionMode });
      const hidden = ALL.filter((tool) => !shown.includes(tool));
      expect(hidden).toContain(name);
      expect(mentions(text, hidden)).toEqual([]);
    }
  });

  test('is neither shown nor mentioned with any others', async () => {
    await fc.assert(
      fc.asyncProperty(fc.subarray(ALL, { minLength: 2 }), async (disallowedTools) => {
        const { shown, text } = await promptOf({ disallowedTools });
        const hidden = ALL.filter((tool) => !shown.includes(tool));
        expect(disallowedTools.filter((tool) => shown.includes(tool))).toEqual([]);
        expect(mentions(text, hidden)).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });

  test.each([
    [['Bash'], ['Bash']],
    [['Bash(*)'], ['Bash']],
    [['Bash(rm *)', 'Task(model:*)', 'Read(*)', 'WebFetch(domain:*)'], []],
    [['Read'], ['Read', 'Glob', 'Grep', 'LS']],
    [['Edit'], ['Edit', 'MultiEdit', 'Write', 'NotebookEdit']],
    [['Write'], ['Write']],
    [
      ['Agent', 'KillShell'],
      ['Task', 'TaskStop'],
    ],
    [['mcp__git'], ['mcp__git__push']],
    [['*'], [...ALL, 'mcp__git__push']],
  ])('is a tool that the rules %j cover as a whole', (texts, expected) => {
    const rules = texts.map((text) => rule('deny', text));
    const push = { name: 'mcp__git__push', kind: 'mcp' } as const;
    const found = forbiddenTools(rules, [...builtinTools, push]);
    expect(new Set(found)).toEqual(new Set(expected));
    const isDenied = Object.entries({
      Bash: bash('ls'),
      Read: read('/etc/hosts'),
      Glob: read('/etc/hosts', 'Glob'),
      Write: write('/etc/hosts'),
      NotebookEdit: write('/etc/a.ipynb', 'NotebookEdit'),
      mcp__git__push: mcp('mcp__git__push'),
    }).flatMap(([name, request]) => {
      const { step } = policyOf({ rules, mode: 'bypassPermissions' }).rule(request);
      return found.includes(name) ? [step] : [];
    });
    expect(new Set(isDenied)).toEqual(new Set(isDenied.length === 0 ? [] : ['deny']));
    expect(
      forbiddenTools(
        texts.map((text) => rule('ask', text)),
        builtinTools,
      ),
    ).toEqual([]);
  });

  test('is not mentioned in texts of later messages', () => {
    const facts = { branch: 'a', status: 'M b', isStatusCut: true, commits: [] };
    const task = teammateTask(
      'Go.',
      { name: 'a', team: 'b' },
      new Set(['SendMessage', 'TaskList']),
    );
    expect(mentions(repositoryText(facts as never, false) + task, ALL)).toEqual([]);
  });
});
