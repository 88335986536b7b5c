import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readHookOutput } from '../../../src/policy/hooks/hook-output.js';
import { hookVerdict, isDecisive } from '../../../src/policy/hooks/hook-verdict.js';
import { HOOK_EVENTS, type HookEvent } from '../../../src/protocol/permission/hooks.js';

const exits = (event: HookEvent, exitCode: number, stdout = '', stderr = '', isCut = false) =>
  readHookOutput(event, 'check.sh', { kind: 'exited', exitCode, stdout, stderr, isCut });

const prints = (event: HookEvent, output: unknown) => exits(event, 0, JSON.stringify(output));
const own = (event: HookEvent, fields: object) =>
  prints(event, { hookSpecificOutput: { hookEventName: event, ...fields } });

describe('exit 2', () => {
  const BLOCKED = { outcome: 'blocked', block: { reason: 'No.', hook: 'check.sh' }, messages: [] };
  const TOLD = { outcome: 'ok', messages: ['check.sh: No.'] };
  test.each<[HookEvent, object]>([
    ['PreToolUse', { ...BLOCKED, permission: { behavior: 'deny', reason: 'No.' } }],
    ['PermissionRequest', { ...BLOCKED, answer: { behavior: 'deny', reason: 'No.' } }],
    ['PostToolUse', BLOCKED],
    ['PostToolUseFailure', BLOCKED],
    ['UserPromptSubmit', BLOCKED],
    ['Stop', BLOCKED],
    ['SubagentStop', BLOCKED],
    ['PreCompact', BLOCKED],
    ['TaskCreated', BLOCKED],
    ['TaskCompleted', BLOCKED],
    ['TeammateIdle', BLOCKED],
    ['Notification', TOLD],
    ['PostCompact', TOLD],
    ['SessionStart', TOLD],
    ['SessionEnd', TOLD],
    ['InstructionsLoaded', TOLD],
  ])('of %s', (event, expected) => {
    const said = exits(event, 2, 'ignored', 'No.\n');
    expect(said).toMatchObject(expected);
    expect(isDecisive(said)).toBe(said.outcome === 'blocked');
    expect(said.context).toEqual([]);
  });

  test('names a reason even when the hook has none, and a huge one is cut', () => {
    expect(exits('Stop', 2).block?.reason).toBe('The hook gave no reason.');
    expect(exits('Stop', 2, '', '🪿'.repeat(10_000)).block?.reason).toHaveLength(10_000);
  });
});

describe('an exit that is neither 0 nor 2', () => {
  test.each(HOOK_EVENTS)('of %s has failed, and nothing more', (event) => {
    const said = exits(event, 1, '{"decision":"block"}', 'Traceback');
    expect(said).toMatchObject({
      outcome: 'failed',
      detail: 'exit code 1: Traceback',
      context: [],
      messages: [
        `The ${event} hook check.sh failed, and nothing was blocked: exit code 1: Traceback`,
      ],
    });
    expect(isDecisive(said)).toBe(false);
  });
});

describe('exit 0', () => {
  test.each(HOOK_EVENTS)('with words speaks to the model only where that is meant: %s', (event) => {
    const { context } = exits(event, 0, ' The branch is frozen.\n');
    const speaks = event === 'UserPromptSubmit' || event === 'SessionStart';
    expect(context).toEqual(speaks ? ['The branch is frozen.'] : []);
  });

  test.each(HOOK_EVENTS)('without a word says nothing: %s', (event) => {
    expect(exits(event, 0)).toEqual({ outcome: 'ok', detail: '', context: [], messages: [] });
  });

  test('with broken or unfinished JSON has failed, and is no context', () => {
    expect(exits('SessionStart', 0, '{"a":')).toMatchObject({ outcome: 'failed', context: [] });
    const cut = exits('SessionStart', 0, '{"a":', '', true);
    expect(cut).toMatchObject({ outcome: 'failed', context: [] });
    expect(cut.messages).toContainEqual(expect.stringMatching(/only its beginning was read/));
  });

  test('with JSON that is too deep has failed', () => {
    const deep = `{"hookSpecificOutput":{"updatedInput":{"a":${'['.repeat(9_000)}${']'.repeat(9_000)}}}}`;
    expect(exits('PreToolUse', 0, deep)).toMatchObject({
      outcome: 'failed',
      detail: expect.stringMatching(/nested deeper/),
    });
  });

  test('with a list is words', () => {
    expect(exits('SessionStart', 0, '[1]').context).toEqual(['[1]']);
  });
});

describe('a field of the output', () => {
  const reason = 'Because.';
  test.each<[string, HookEvent, object, object]>([
    ['continue', 'PostToolUse', { continue: false, stopReason: reason }, { halt: reason }],
    ['continue without a reason', 'Stop', { continue: false }, { halt: 'A hook ended the run.' }],
    [
      'continue where no run could end',
      'SessionStart',
      { continue: false, stopReason: reason },
      { outcome: 'ok', messages: ['check.sh: Because.'] },
    ],
    ['systemMessage', 'Stop', { systemMessage: 'Mind.' }, { messages: ['Mind.'], outcome: 'ok' }],
    ['suppressOutput', 'Stop', { suppressOutput: true }, { outcome: 'ok', messages: [] }],
    ['decision block', 'Stop', { decision: 'block', reason }, { block: { reason } }],
    [
      'decision block before a call',
      'PreToolUse',
      { decision: 'block', reason },
      { block: { reason }, permission: { behavior: 'deny', reason } },
    ],
    [
      'decision approve before a call',
      'PreToolUse',
      { decision: 'approve', reason },
      { permission: { behavior: 'allow', reason } },
    ],
    ['a key that nobody knows', 'Stop', { decisions: 'block' }, { outcome: 'ok', detail: '' }],
  ])('%s', (_, event, output, expected) => {
    expect(prints(event, output)).toMatchObject(expected);
  });

  test.each<[string, HookEvent, object, object]>([
    [
      'permissionDecision allow',
      'PreToolUse',
      { permissionDecision: 'allow', permissionDecisionReason: reason },
      { permission: { behavior: 'allow', reason, hook: 'check.sh' }, outcome: 'ok' },
    ],
    [
      'permissionDecision ask',
      'PreToolUse',
      { permissionDecision: 'ask' },
      { permission: { behavior: 'ask', reason: 'The hook decided ask.' }, outcome: 'ok' },
    ],
    [
      'permissionDecision deny',
      'PreToolUse',
      { permissionDecision: 'deny', permissionDecisionReason: reason },
      { permission: { behavior: 'deny', reason }, block: { reason }, outcome: 'blocked' },
    ],
    ['updatedInput', 'PreToolUse', { updatedInput: { a: 1 } }, { updatedInput: { a: 1 } }],
    ['additionalContext', 'PostToolUse', { additionalContext: 'See.' }, { context: ['See.'] }],
    ['updatedMCPToolOutput', 'PostToolUse', { updatedMCPToolOutput: 'x' }, { updatedOutput: 'x' }],
    ['updatedToolOutput', 'PostToolUse', { updatedToolOutput: ['x'] }, { updatedOutput: ['x'] }],
    [
      'decision allow of a question',
      'PermissionRequest',
      { decision: { behavior: 'allow', updatedInput: { a: 1 } } },
      { answer: { behavior: 'allow', updatedInput: { a: 1 } }, outcome: 'ok' },
    ],
    [
      'decision deny of a question',
      'PermissionRequest',
      { decision: { behavior: 'deny', message: reason, interrupt: true } },
      { answer: { behavior: 'deny', reason, interrupt: true }, outcome: 'blocked' },
    ],
  ])('%s', (_, event, fields, expected) => {
    expect(own(event, fields)).toMatchObject(expected);
  });

  test.each<[string, HookEvent, object]>([
    ['permissionDecision', 'PostToolUse', { permissionDecision: 'deny' }],
    ['updatedInput', 'PostToolUse', { updatedInput: {} }],
    ['updatedToolOutput', 'PreToolUse', { updatedToolOutput: 'x' }],
    ['the answer to a question', 'PreToolUse', { decision: { behavior: 'allow' } }],
  ])('%s means nothing at another event', (_, event, fields) => {
    expect(own(event, fields)).toEqual({ outcome: 'ok', detail: '', context: [], messages: [] });
  });

  test.each<[object]>([
    [{ continue: 'no' }],
    [{ decision: 'perhaps' }],
    [{ hookSpecificOutput: 'deny' }],
    [{ hookSpecificOutput: { permissionDecision: 'never' } }],
    [{ hookSpecificOutput: { updatedInput: 'rm' } }],
  ])('that is wrong fails the hook, and it is said where: %j', (output) => {
    const said = prints('PreToolUse', output);
    expect(said).toMatchObject({ outcome: 'failed', context: [] });
    expect(said.messages[0]).toContain(Object.keys(output)[0]);
    expect(isDecisive(said)).toBe(false);
  });

  test('that is newer stands instead of an older one', () => {
    const both = { decision: 'block', hookSpecificOutput: { permissionDecision: 'allow' } };
    const said = prints('PreToolUse', both);
    expect(said.permission?.behavior).toBe('allow');
    expect(said.block).toBeUndefined();
  });

  test('for the model is bounded, and says that it was cut', () => {
    const [text = ''] = exits('SessionStart', 0, `${'x'.repeat(9_999)}🪿🪿`).context;
    expect(text).toMatch(/3 more were cut/);
    expect(text.isWellFormed()).toBe(true);
    expect(text.length).toBeLessThan(10_200);
  });
});

describe('hooks together', () => {
  const merged = (...said: ReturnType<typeof exits>[]) => hookVerdict(said, []);
  const rules = (behavior: string) => own('PreToolUse', { permissionDecision: behavior });

  test('are as strict as the strictest', () => {
    expect(merged(rules('allow'), rules('ask')).permission?.behavior).toBe('ask');
    expect(merged(rules('ask'), rules('deny'), rules('allow')).permission?.behavior).toBe('deny');
    expect(merged(rules('allow'), exits('PreToolUse', 1)).permission?.behavior).toBe('allow');
  });

  test('have the input of the last who changed it, and all that they add in order', () => {
    const first = own('PreToolUse', { updatedInput: { a: 1 }, additionalContext: 'One.' });
    const second = own('PreToolUse', { updatedInput: { a: 2 }, additionalContext: 'Two.' });
    expect(merged(first, second, exits('PreToolUse', 0))).toMatchObject({
      updatedInput: { a: 2 },
      context: ['One.', 'Two.'],
    });
  });

  test('answer no when one does', () => {
    const yes = own('PermissionRequest', { decision: { behavior: 'allow' } });
    const no = own('PermissionRequest', { decision: { behavior: 'deny' } });
    expect(merged(yes, no).answer?.behavior).toBe('deny');
    expect(merged(yes).answer?.behavior).toBe('allow');
    expect(merged().answer).toBeUndefined();
  });
});

test('whatever a hook prints, it is heard without a throw, bounded and well-formed', () => {
  const json = fc.json().map((text) => `{"hookSpecificOutput":${text},"reason":${text}}`);
  fc.assert(
    fc.property(
      fc.constantFrom(...HOOK_EVENTS),
      fc.constantFrom(0, 1, 2, 127),
      fc.oneof(json, fc.string({ unit: 'binary' })),
      (event, exitCode, text) => {
        const said = exits(event, exitCode, text, text);
        for (const words of [...said.context, ...said.messages, said.detail]) {
          expect(words.isWellFormed()).toBe(true);
        }
      },
    ),
  );
});
