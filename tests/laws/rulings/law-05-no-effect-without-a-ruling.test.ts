/** Law 5: no effect without a ruling, with rules, modes and the callback. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { diskWorkspace } from '../../../src/host/files/disk-workspace.js';
import { createPolicy } from '../../../src/policy/policy.js';
import { systemClock } from '../../../src/protocol/clock.js';
import {
  type Hooks,
  type HookVerdict,
  NO_VERDICT,
} from '../../../src/protocol/permission/hooks.js';
import { PERMISSION_MODES } from '../../../src/protocol/permission/permission-mode.js';
import type { PermissionAnswer } from '../../../src/protocol/permission/permission-question.js';
import type { PermissionRule } from '../../../src/protocol/permission/permission-rule.js';
import type { JournalRecord } from '../../../src/protocol/session/journal-record.js';
import { defineTool, type Tool } from '../../../src/protocol/tools/tool.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { findFiles } from '../../../src/tools/search/find-files.js';
import { searchText } from '../../../src/tools/search/search-text.js';
import { makeTree, searchWith } from '../../host/search/search-tree.js';
import { effectsOf } from '../effects-trap.js';
import { finish, openRig, speaks } from '../session-rig.js';

/** Tool that records its executed calls. */
const counting = (name: string, readOnly: boolean, ran: string[]): Tool =>
  defineTool({
    name,
    kind: 'builtin',
    prompt: name,
    interruptBehavior: 'cancel',
    input: z.object({ target: z.string() }),
    describe: ({ target }) => `${name} ${target}`,
    isReadOnly: () => readOnly,
    isConcurrencySafe: () => readOnly,
    subject: ({ target }) => ({ action: readOnly ? 'read' : 'write', target }),
    async call({ target }) {
      ran.push(`${name} ${target}`);
      return { content: 'done' };
    },
  }) as Tool;

/** Calls that started without an earlier permission. */
const unruled = (journal: readonly JournalRecord[]): readonly string[] => {
  const allowed = new Set<string>();
  const found: string[] = [];
  for (const record of journal) {
    if (record.type === 'call.ruled') {
      if (record.behavior === 'allow') allowed.add(record.call);
      else allowed.delete(record.call);
    }
    if (record.type === 'call.started' && !allowed.has(record.call)) found.push(record.call);
  }
  return found;
};

const runOnce = async (
  calls: readonly { tool: string; target: string }[],
  rules: readonly PermissionRule[],
  mode: (typeof PERMISSION_MODES)[number],
  answer: PermissionAnswer | undefined,
  hook?: Partial<HookVerdict>,
) => {
  const ran: string[] = [];
  const store = new MemorySessionStore(systemClock);
  const asked: string[] = [];
  const scripted = calls.map(({ tool, target }, index) => ({
    id: `c${index}`,
    tool,
    input: { target },
  }));
  const session = await openRig({
    store,
    rules,
    mode,
    tools: [counting('Edit', false, ran), counting('Read', true, ran)],
    model: speaks([{ calls: scripted }, { text: 'Done.' }]),
    ...(hook && { options: { hooks: beforeEveryCall(hook) } }),
    ...(answer && {
      surface: {
        ask: async ({ call }) => {
          asked.push(call);
          return answer;
        },
      },
    }),
  });
  await finish(session, 'Go.');
  const { records } = await store.readJournal(session.id, session.meta.lead);
  await session.close();
  return { ran, asked, journal: records };
};

const beforeEveryCall = (verdict: Partial<HookVerdict>): Hooks => ({
  has: (event) => event === 'PreToolUse',
  fire: async () => ({ ...NO_VERDICT, ...verdict }),
});

const verdict = fc.record(
  {
    permission: fc.record({
      behavior: fc.constantFrom('allow', 'deny', 'ask'),
      reason: fc.constant('It says so.'),
      hook: fc.constant('./check.sh'),
    }),
    updatedInput: fc.constantFrom({ target: 'src/b.ts' }, { target: '/etc/passwd' }, { target: 7 }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Partial<HookVerdict>>;

const call = fc.record({
  tool: fc.constantFrom('Edit', 'Read', 'Gone'),
  target: fc.constantFrom('src/a.ts', 'src/b.ts', '/etc/passwd', '.env'),
});
const rule = fc.record({
  behavior: fc.constantFrom('allow', 'deny', 'ask'),
  text: fc.constantFrom('Edit', 'Read', 'Edit(src/**)', 'Read(src/a.ts)', 'Edit(//etc/**)'),
  source: fc.constantFrom('user', 'project', 'flag'),
}) as fc.Arbitrary<PermissionRule>;
const answers = fc.constantFrom<(PermissionAnswer | undefined)[]>(
  undefined,
  { behavior: 'allow' },
  { behavior: 'deny', reason: 'no' },
  { behavior: 'allow', updatedInput: { target: 'src/b.ts' } },
);

const SECRETS = ['a.txt', 'src/b.ts', 'src/c.ts', '.env', 'keys/d.pem', 'keys/e.txt'] as const;

/** Each file contains its own word, which identifies it in results. */
const wordOf = (file: string) => `word-${file.replaceAll(/\W/g, '-')}`;

const searching = async (
  rules: readonly PermissionRule[],
  mode: (typeof PERMISSION_MODES)[number],
  surface: boolean,
) => {
  const cwd = await makeTree(Object.fromEntries(SECRETS.map((file) => [file, wordOf(file)])));
  const store = new MemorySessionStore(systemClock);
  const glob = '{*,.env}';
  const calls = [
    { id: 'c0', tool: 'Grep', input: { pattern: 'word', output_mode: 'content', glob } },
    { id: 'c1', tool: 'Grep', input: { pattern: 'word', output_mode: 'count', glob } },
    { id: 'c2', tool: 'Glob', input: { pattern: glob } },
  ];
  const session = await openRig({
    store,
    rules,
    mode,
    cwd,
    tools: [searchText, findFiles],
    search: searchWith('javascript'),
    workspace: diskWorkspace(),
    model: speaks([{ calls }, { text: 'Done.' }]),
    ...(surface && { surface: { ask: async () => ({ behavior: 'allow' }) } }),
  });
  await finish(session, 'Go.');
  const { records } = await store.readJournal(session.id, session.meta.lead);
  await session.close();
  const policy = createPolicy({
    rules,
    mode,
    surface,
    roots: [cwd],
    home: '/home/law',
    skeinHome: '/home/law/.skein',
    realPath: (path) => path,
  });
  const mayBeRead = (file: string) =>
    policy.rule({
      tool: 'Read',
      readOnly: true,
      cwd,
      subject: { action: 'read', target: file },
    }).behavior === 'allow';
  return {
    results: JSON.stringify(records),
    protectedFiles: SECRETS.filter((it) => !mayBeRead(it)),
  };
};

/** Files whose contents or names are in a result, although Read would be denied or asked about. */
const leaked = (results: string, protectedFiles: readonly string[]): readonly string[] =>
  protectedFiles.filter(
    (file) =>
      results.includes(wordOf(file)) ||
      results.includes(`${file}:`) ||
      results.includes(`\\n${file}\\n`),
  );

const fileRule = fc.record({
  behavior: fc.constantFrom('allow', 'deny', 'ask'),
  text: fc.constantFrom(
    'Read(src/**)',
    'Read(a.txt)',
    'Grep',
    'Grep(keys/**)',
    'Glob(src/c.ts)',
    'Read(.env)',
    'Read',
  ),
  source: fc.constantFrom('user', 'project', 'flag'),
}) as fc.Arbitrary<PermissionRule>;

describe('law 5, no effect without a ruling', () => {
  test('a search shows no content of files that Read may not open', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fileRule, { maxLength: 4 }),
        fc.constantFrom(...PERMISSION_MODES),
        fc.boolean(),
        async (rules, mode, surface) => {
          const { results, protectedFiles } = await searching(rules, mode, surface);
          expect(leaked(results, protectedFiles)).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('a search shows the other files, and the number of omitted files', async () => {
    const rules = [{ behavior: 'deny', text: 'Read(src/b.ts)', source: 'user' }] as const;
    const { results, protectedFiles } = await searching(rules, 'default', false);
    expect(protectedFiles).toEqual(['src/b.ts', '.env', 'keys/d.pem']);
    for (const file of ['a.txt', 'src/c.ts', 'keys/e.txt']) expect(results).toContain(wordOf(file));
    expect(results).toContain('3 files left out');
  });

  test('catches a search that shows a protected file', async () => {
    const { results } = await searching([], 'default', false);
    expect(leaked(results, ['a.txt'])).toEqual(['a.txt']);
  });

  test('no call runs before it is allowed, for all rules, modes and answers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { minLength: 1, maxLength: 5 }),
        fc.array(rule, { maxLength: 4 }),
        fc.constantFrom(...PERMISSION_MODES),
        answers,
        async (calls, rules, mode, answer) => {
          const { ran, journal } = await runOnce(calls, rules, mode, answer);
          expect(unruled(journal)).toEqual([]);
          const started = journal.filter(({ type }) => type === 'call.started');
          expect(ran).toHaveLength(started.length);
          const isForbidden = rules.some(
            ({ behavior, text }) => behavior === 'deny' && text === 'Edit',
          );
          expect(isForbidden && ran.some((line) => line.startsWith('Edit'))).toBe(false);
        },
      ),
      { numRuns: 150 },
    );
  });

  test('a hook cannot allow calls that a rule denies or that a person must allow', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { minLength: 1, maxLength: 4 }),
        fc.array(rule, { maxLength: 3 }),
        fc.constantFrom(...PERMISSION_MODES),
        verdict,
        async (calls, rules, mode, hook) => {
          const policy = createPolicy({
            rules,
            mode,
            surface: false,
            roots: [process.cwd()],
            home: '/home/law',
            skeinHome: '/home/law/.skein',
            realPath: (path) => path,
          });
          const { ran, journal } = await runOnce(calls, rules, mode, undefined, hook);
          expect(unruled(journal)).toEqual([]);
          const isDenied = hook.permission?.behavior === 'deny';
          expect(isDenied && ran.length > 0).toBe(false);
          for (const line of ran) {
            const [tool = '', target = ''] = line.split(' ');
            const reads = tool === 'Read';
            const { behavior, step } = policy.rule(
              {
                tool,
                readOnly: reads,
                cwd: process.cwd(),
                subject: { action: reads ? 'read' : 'write', target },
              },
              { hook: { behavior: 'allow', reason: '', hook: '' } },
            );
            expect(`${line} ${behavior}@${step}`).toBe(`${line} allow@${step}`);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test('input that a hook changed is judged again, and a deny rule still applies', async () => {
    const rules = [{ behavior: 'deny', text: 'Edit(src/b.ts)', source: 'user' }] as const;
    const permission = { behavior: 'allow', reason: '', hook: './check.sh' } as const;
    const calls = [{ tool: 'Edit', target: 'src/a.ts' }];
    const run = (target: string) =>
      runOnce(calls, rules, 'default', undefined, { permission, updatedInput: { target } });
    expect((await run('src/b.ts')).ran).toEqual([]);
    expect((await run('src/c.ts')).ran).toEqual(['Edit src/c.ts']);
  });

  test('an ask rule reaches the person even if all other rules and modes would allow the call', async () => {
    const rules = [
      { behavior: 'ask', text: 'Edit', source: 'user' },
      { behavior: 'allow', text: 'Edit', source: 'user' },
    ] as const;
    const calls = [{ tool: 'Edit', target: 'src/a.ts' }];
    const allowed = await runOnce(calls, rules, 'bypassPermissions', { behavior: 'allow' });
    expect(allowed).toMatchObject({ asked: ['c0'], ran: ['Edit src/a.ts'] });
    const unanswered = await runOnce(calls, rules, 'bypassPermissions', undefined);
    expect(unanswered.ran).toEqual([]);
  });

  test('input that a person changed is judged again, and a deny rule still applies', async () => {
    const rules = [{ behavior: 'deny', text: 'Edit(src/b.ts)', source: 'user' }] as const;
    const answer = { behavior: 'allow', updatedInput: { target: 'src/b.ts' } } as const;
    const { ran, journal } = await runOnce(
      [{ tool: 'Edit', target: 'src/a.ts' }],
      rules,
      'default',
      answer,
    );
    expect(ran).toEqual([]);
    expect(journal).toContainEqual(
      expect.objectContaining({ type: 'call.ended', outcome: 'denied' }),
    );
  });

  test('the runtime itself uses neither disk nor network nor processes: only tools do', async () => {
    const calls = [
      { tool: 'Edit', target: 'src/a.ts' },
      { tool: 'Read', target: 'src/a.ts' },
    ];
    const run = () => runOnce(calls, [], 'acceptEdits', { behavior: 'allow' });
    // The store writes the session and causes no other effects.
    const effects = (await effectsOf(run)).filter((effect) => !effect.includes('by store/'));
    expect(effects).toEqual([]);
  });

  test('catches an effect outside of the tools', async () => {
    const workspace = diskWorkspace();
    const effects = await effectsOf(() => workspace.read('package.json', 1_000_000));
    expect(effects.join()).toContain('by host/files/disk-workspace.ts');
  });

  test('catches a call that started without a ruling', async () => {
    const { journal } = await runOnce(
      [{ tool: 'Read', target: 'src/a.ts' }],
      [],
      'default',
      undefined,
    );
    expect(unruled(journal.filter(({ type }) => type !== 'call.ruled'))).toEqual(['c0']);
  });
});
