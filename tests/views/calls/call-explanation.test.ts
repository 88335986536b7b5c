import { describe, expect, test } from 'vitest';
import type { JournalBody, JournalRecord } from '../../../src/protocol/session/journal-record.js';
import { explainCall } from '../../../src/views/calls/call-explanation.js';
import { findCall, listCalls } from '../../../src/views/calls/list-calls.js';

const at = { turn: 1, attempt: 1 };
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 };

const created: JournalBody = {
  type: 'agent.created',
  agent: 'a_1',
  parent: null,
  cwd: '/repo',
  model: 'm',
  prompt: 'p',
};

/** Message that calls tools, each as `[id, name, input]`. */
const callsTools = (...calls: readonly [string, string, object][]): JournalBody => ({
  type: 'assistant.received',
  ...at,
  model: 'm',
  messageId: null,
  requestId: null,
  stopReason: 'tool_use',
  usage,
  cost: 0,
  durationMs: 1,
  raw: JSON.stringify(calls.map(([id, name, input]) => ({ type: 'tool_use', id, name, input }))),
});

const ruled = (call: string, more: object): JournalBody =>
  ({ type: 'call.ruled', ...at, call, tool: 'T', reason: 'Why.', ...more }) as JournalBody;
const started = (call: string): JournalBody => ({
  type: 'call.started',
  ...at,
  call,
  tool: 'T',
  readOnly: false,
  inputDigest: 'd',
  description: 'it',
});
const ended = (
  call: string,
  content: string,
  outcome: 'ok' | 'denied' | 'invalid' = 'ok',
): JournalBody => ({
  type: 'call.ended',
  ...at,
  call,
  tool: 'T',
  outcome,
  durationMs: 30,
  raw: JSON.stringify({ type: 'tool_result', tool_use_id: call, content }),
});
const changed = (call: string, path: string, isNew = false): JournalBody => ({
  type: 'files.changed',
  call,
  changes: [
    {
      path,
      before: isNew ? { kind: 'absent' } : { kind: 'file', digest: 'a', mode: 0o644 },
      after: { kind: 'file', digest: 'b', mode: 0o644 },
    },
  ],
});

/** Session with a single agent that has these records, one per second. */
const sessionOf = (...bodies: readonly JournalBody[]) => {
  const records = [created, ...bodies].map(
    (body, index): JournalRecord => ({
      v: 1,
      seq: index + 1,
      ts: index * 1_000,
      epoch: 1,
      ...body,
    }),
  );
  const store = {
    agents: () => Promise.resolve(['a_1']),
    async *records() {
      yield* records;
    },
  };
  const explain = async (name: string) => {
    const calls = await listCalls(store, 's_1');
    return explainCall(store, 's_1', calls, findCall(calls, name));
  };
  return { store, explain };
};

test('a list of calls leaves out file changes by worktree merges and by calls of other agents', async () => {
  const { store } = sessionOf(
    callsTools(['c_1', 'Write', { file_path: 'a' }]),
    { type: 'files.watched', call: 'merge_a_2', manifest: 'm' },
    changed('merge_a_2', '/repo/b'),
    started('c_1'),
    changed('c_on_a_worker', '/repo/c'),
    changed('c_1', '/repo/a'),
    ended('c_1', 'Written.'),
  );
  expect(await listCalls(store, 's_1')).toMatchObject([
    { number: 1, call: 'c_1', tool: 'Write', changed: ['/repo/a'] },
  ]);
});

describe('the explanation of a call', () => {
  test('names the step that decided, the rule with file and line, and an alternative', async () => {
    const rule = { rule: 'Bash(rm:*)', source: 'project', file: '/repo/.claude/s.json', line: 4 };
    const { explain } = sessionOf(
      callsTools(['c_1', 'Bash', { command: 'rm x' }]),
      ruled('c_1', { behavior: 'deny', step: 'deny', instead: 'Nothing.', ...rule }),
      ended('c_1', 'Denied.', 'denied'),
    );
    const { steps, rulings, outcome, result } = await explain('1');
    expect(rulings).toEqual([
      { behavior: 'deny', step: 'deny', reason: 'Why.', instead: 'Nothing.', ...rule },
    ]);
    expect(steps.map(({ step, fate }) => `${step} ${fate}`)).toEqual([
      'schema passed',
      'hooks passed',
      'deny denied',
      'ask not reached',
      'mode not reached',
      'allow not reached',
      'callback not reached',
      'reject not reached',
    ]);
    expect([outcome, result]).toEqual(['denied', 'Denied.']);
  });

  test('lists the questions with their answers and the waiting time', async () => {
    const { explain } = sessionOf(
      callsTools(['c_1', 'Bash', { command: 'make' }]),
      ruled('c_1', { behavior: 'ask', step: 'ask' }),
      {
        type: 'question.asked',
        ...at,
        question: 'q_1',
        call: 'c_1',
        tool: 'Bash',
        inputDigest: 'd',
        description: 'make',
        reason: 'A person must agree.',
      },
      {
        type: 'question.answered',
        ...at,
        question: 'q_1',
        call: 'c_1',
        surface: 'inbox',
        outcome: 'refused',
        refusal: 'forged',
        detail: 'It is forged.',
      },
      {
        type: 'question.answered',
        ...at,
        question: 'q_1',
        call: 'c_1',
        surface: 'terminal',
        outcome: 'accepted',
        detail: 'once',
      },
      ruled('c_1', { behavior: 'allow', step: 'callback', by: 'terminal' }),
      started('c_1'),
      ended('c_1', 'made'),
    );
    const { questions, steps } = await explain('c_1');
    expect(questions).toEqual([
      {
        reason: 'A person must agree.',
        waitedMs: 2_000,
        answers: [
          { surface: 'inbox', outcome: 'refused', detail: 'It is forged.' },
          { surface: 'terminal', outcome: 'accepted', detail: 'once' },
        ],
      },
    ]);
    const fates = Object.fromEntries(steps.map(({ step, fate }) => [step, fate]));
    expect(fates).toMatchObject({
      deny: 'passed',
      ask: 'asked',
      mode: 'skipped',
      allow: 'skipped',
      callback: 'allowed',
    });
  });

  test('lists only the hooks that ran for this call', async () => {
    const ran = (call: string, hook: string): JournalBody => ({
      type: 'hook.ran',
      event: 'PreToolUse',
      hook,
      outcome: 'ok',
      durationMs: 9,
      call,
      detail: '',
    });
    const { explain } = sessionOf(
      callsTools(['c_1', 'Bash', {}], ['c_2', 'Bash', {}]),
      ran('c_1', './one'),
      ran('c_2', './two'),
      ruled('c_1', { behavior: 'allow', step: 'hooks', hook: './one' }),
    );
    const { hooks, steps, outcome } = await explain('1');
    expect(hooks.map(({ hook }) => hook)).toEqual(['./one']);
    const fates = Object.fromEntries(steps.map(({ step, fate }) => [step, fate]));
    // The decision of a hook that allows counts only after the rules.
    expect(fates).toMatchObject({ hooks: 'allowed', deny: 'passed', allow: 'passed' });
    expect(fates.callback).toBe('not reached');
    expect(outcome).toBe('not started');
  });

  test('lists changed files and the earlier calls that changed the same file', async () => {
    const { explain } = sessionOf(
      callsTools(['c_1', 'Write', { file_path: 'src/a.ts' }]),
      ended('c_1', 'ok'),
      changed('c_1', '/repo/src/a.ts', true),
      callsTools(['c_2', 'Bash', { command: 'sed' }]),
      ended('c_2', 'ok'),
      changed('c_2', '/repo/src/b.ts'),
      // From a time without file watching.
      callsTools(['c_3', 'Edit', { file_path: '/repo/src/a.ts' }]),
      ended('c_3', 'ok'),
      callsTools(['c_4', 'Bash', { command: 'fmt' }]),
      ended('c_4', 'ok'),
      changed('c_4', '/repo/src/a.ts'),
    );
    const { files, isUnwatched } = await explain('4');
    expect(files).toMatchObject([
      {
        path: '/repo/src/a.ts',
        change: 'changed',
        earlierMore: 0,
        earlier: [
          { number: 3, tool: 'Edit' },
          { number: 1, tool: 'Write' },
        ],
      },
    ]);
    expect(isUnwatched).toBe(false);
    expect((await explain('1')).files[0]?.change).toBe('made');
    expect(await explain('3')).toMatchObject({
      isUnwatched: true,
      files: [{ path: '/repo/src/a.ts', change: 'unknown' }],
    });
  });

  test('cites earlier outputs that may have misled the model, and no later outputs', async () => {
    const { explain } = sessionOf(
      callsTools(['c_1', 'Grep', { pattern: 'x' }]),
      ended('c_1', 'first\nsrc/old.ts:4: delete me\nlast'),
      callsTools(['c_2', 'Read', { file_path: 'src/old.ts' }]),
      ended('c_2', 'const a = 1;\nmore'),
      callsTools(['c_3', 'Grep', { pattern: 'y' }]),
      ended('c_3', 'src/older.ts and mysrc/old.tsx'),
      callsTools(['c_4', 'Bash', { command: 'rm src/old.ts' }], ['c_5', 'Bash', { command: 'ls' }]),
      ended('c_4', 'gone'),
      ended('c_5', 'rm src/old.ts'),
    );
    const { seen, seenMore } = await explain('4');
    expect(seen).toEqual([
      {
        number: 1,
        tool: 'Grep',
        isSame: false,
        line: 2,
        text: 'src/old.ts:4: delete me',
      },
    ]);
    expect(seenMore).toBe(0);
    const edit = sessionOf(
      callsTools(['c_1', 'Read', { file_path: 'a.ts' }]),
      ended('c_1', 'const a = 1;'),
      callsTools(['c_2', 'Edit', { file_path: '/repo/a.ts' }]),
    );
    expect((await edit.explain('2')).seen).toEqual([
      { number: 1, tool: 'Read', isSame: true, line: 1, text: 'const a = 1;' },
    ]);
  });

  test('cites at most five earlier outputs and counts the others', async () => {
    const before = Array.from({ length: 30 }, (_, index) => [
      callsTools([`c_${index}`, 'Read', { file_path: 'a.ts' }]),
      ended(`c_${index}`, `version ${index}`),
    ]).flat();
    const { explain } = sessionOf(...before, callsTools(['last', 'Edit', { file_path: 'a.ts' }]));
    const { seen, seenMore } = await explain('last');
    expect(seen.map(({ text }) => text)).toEqual([29, 28, 27, 26, 25].map((it) => `version ${it}`));
    expect(seenMore).toBe(25);
  });

  test('contains no secrets and stays short', async () => {
    const secret = 'sk-ant-api03-0123456789abcdef0123456789';
    const { explain } = sessionOf(
      callsTools(['c_1', 'Bash', { command: `echo ${secret}`, more: 'x'.repeat(100_000) }]),
      ruled('c_1', { behavior: 'allow', step: 'allow', reason: `Of ${secret}.`, rule: secret }),
      ended('c_1', `${secret}\n${'y'.repeat(1_000_000)}`),
    );
    const text = JSON.stringify(await explain('1'));
    expect(text).not.toContain('0123456789abcdef');
    expect(text.length).toBeLessThan(10_000);
  });

  test('marks a call as undone by a rewind until that rewind is undone', async () => {
    const rewound = (more: object): JournalBody =>
      ({ type: 'session.rewound', to: 1, conversation: true, changes: [], ...more }) as JournalBody;
    const call = [callsTools(['c_1', 'Bash', {}]), ended('c_1', 'ok'), rewound({})];
    expect((await sessionOf(...call).explain('1')).rewoundAt).toBe(3_000);
    const undone = [...call, rewound({ to: 3, undoes: 4 })];
    expect((await sessionOf(...undone).explain('1')).rewoundAt).toBeNull();
    const again = [...undone, rewound({ to: 4, undoes: 5 })];
    expect((await sessionOf(...again).explain('1')).rewoundAt).toBe(3_000);
  });

  test('marks a call after a rewind as undone when the rewind itself is undone', async () => {
    const rewound = (to: number): JournalBody => ({
      type: 'session.rewound',
      to,
      conversation: true,
      changes: [],
    });
    const { explain } = sessionOf(
      callsTools(['c_1', 'Bash', {}]),
      ended('c_1', 'ok'),
      rewound(1),
      callsTools(['c_2', 'Bash', {}]),
      ended('c_2', 'ok'),
      { ...rewound(3), undoes: 4 } as JournalBody,
    );
    expect([(await explain('1')).rewoundAt, (await explain('2')).rewoundAt]).toEqual([null, 6_000]);
  });

  test('covers a call that ended before its message arrived, and a call without a message', async () => {
    const { explain } = sessionOf(
      ruled('c_1', { tool: 'Bash', behavior: 'deny', step: 'deny' }),
      ended('c_1', 'Denied.', 'denied'),
      callsTools(['c_1', 'Bash', { command: 'make' }]),
      ruled('c_2', { tool: 'Read', behavior: 'allow', step: 'mode' }),
    );
    expect(await explain('1')).toMatchObject({ input: '{"command":"make"}', outcome: 'denied' });
    expect(await explain('2')).toMatchObject({ tool: 'Read', input: '{}', outcome: 'not started' });
  });

  test('works for a journal without steps, hooks and files', async () => {
    const { explain } = sessionOf(
      callsTools(['c_1', 'Bash', ['no object']]),
      ended('c_1', 'ok', 'invalid'),
    );
    expect(await explain('1')).toMatchObject({
      outcome: 'invalid',
      rulings: [],
      hooks: [],
      files: [],
      seen: [],
      questions: [],
      isUnwatched: true,
    });
  });
});

describe('the name of a call', () => {
  const three = async () => {
    const { store } = sessionOf(
      callsTools(['toolu_aa', 'Read', {}], ['toolu_ab', 'Read', {}], ['toolu_b', 'Read', {}]),
    );
    return listCalls(store, 's_1');
  };

  test.each([
    ['2', 'toolu_ab'],
    ['#3', 'toolu_b'],
    ['toolu_b', 'toolu_b'],
    ['toolu_aa', 'toolu_aa'],
  ])('may be %s', async (name, call) => {
    expect(findCall(await three(), name).call).toBe(call);
  });

  test.each([
    ['toolu_a', 'matches 2 calls: toolu_aa (number 1), toolu_ab (number 2)'],
    ['4', 'There is no call "4"; the session has 3 calls'],
    ['x'.repeat(10_000), 'There is no call'],
    ['', 'There is no call'],
  ])('is rejected with a hint for %s', async (name, sentence) => {
    const calls = await three();
    expect(() => findCall(calls, name)).toThrow(sentence);
  });
});
