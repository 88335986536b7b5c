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

describe('a hook with exit code 2', () => {
  const BLOCKED = { outcome: 'blocked', block: { reason: 'No.', hook: 'check.sh' }, messages: [] };
  const REPORTED = { outcome: 'ok', messages: ['check.sh: No.'] };
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
    ['Notification', REPORTED],
    ['PostCompact', REPORTED],
    ['SessionStart', REPORTED],
    ['SessionEnd', REPORTED],
    ['InstructionsLoaded', REPORTED],
  ])('blocks or reports at %s', (event, expected) => {
    const result = exits(event, 2, 'ignored', 'No.\n');
    expect(result).toMatchObject(expected);
    expect(isDecisive(result)).toBe(result.outcome === 'blocked');
    expect(result.context).toEqual([]);
  });

  test('has a default reason, and a long reason is cut', () => {
    expect(exits('Stop', 2).block?.reason).toBe('The hook gave no reason.');
    expect(exits('Stop', 2, '', '🪿'.repeat(10_000)).block?.reason).toHaveLength(10_000);
  });
});

describe('a hook with another exit code', () => {
  test.each(HOOK_EVENTS)('fails without a decision at %s', (event) => {
    const result = exits(event, 1, '{"decision":"block"}', 'Traceback');
    expect(result).toMatchObject({
      outcome: 'failed',
      detail: 'exit code 1: Traceback',
      context: [],
      messages: [
        `The ${event} hook check.sh failed, and nothing was blocked: exit code 1: Traceback`,
      ],
    });
    expect(isDecisive(result)).toBe(false);
  });
});

describe('a hook with exit code 0', () => {
  test.each(HOOK_EVENTS)('adds its text to the context only at some events: %s', (event) => {
    const { context } = exits(event, 0, ' The branch is frozen.\n');
    const speaks = event === 'UserPromptSubmit' || event === 'SessionStart';
    expect(context).toEqual(speaks ? ['The branch is frozen.'] : []);
  });

  test.each(HOOK_EVENTS)('without output has no effect: %s', (event) => {
    expect(exits(event, 0)).toEqual({ outcome: 'ok', detail: '', context: [], messages: [] });
  });

  test('with invalid or truncated JSON fails and adds no context', () => {
    expect(exits('SessionStart', 0, '{"a":')).toMatchObject({ outcome: 'failed', context: [] });
    const cut = exits('SessionStart', 0, '{"a":', '', true);
    expect(cut).toMatchObject({ outcome: 'failed', context: [] });
    expect(cut.messages).toContainEqual(expect.stringMatching(/only its beginning was read/));
  });

  test('with JSON nested too deeply fails', () => {
    const deep = `{"hookSpecificOutput":{"updatedInput":{"a":${'['.repeat(9_000)}${']'.repeat(9_000)}}}}`;
    expect(exits('PreToolUse', 0, deep)).toMatchObject({
      outcome: 'failed',
      detail: expect.stringMatching(/nested deeper/),
    });
  });

  test('treats a JSON list as text', () => {
    expect(exits('SessionStart', 0, '[1]').context).toEqual(['[1]']);
  });
});

describe('a field of the hook output', () => {
  const reason = 'Because.';
  test.each<[string, HookEvent, object, object]>([
    ['continue', 'PostToolUse', { continue: false, stopReason: reason }, { halt: reason }],
    ['continue without a reason', 'Stop', { continue: false }, { halt: 'A hook ended the run.' }],
    [
      'continue at an event without a run',
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
    ['an unknown key', 'Stop', { decisions: 'block' }, { outcome: 'ok', detail: '' }],
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
  ])('%s is ignored at other events', (_, event, fields) => {
    expect(own(event, fields)).toEqual({ outcome: 'ok', detail: '', context: [], messages: [] });
  });

  test.each<[object]>([
    [{ continue: 'no' }],
    [{ decision: 'perhaps' }],
    [{ hookSpecificOutput: 'deny' }],
    [{ hookSpecificOutput: { permissionDecision: 'never' } }],
    [{ hookSpecificOutput: { updatedInput: 'rm' } }],
  ])('with an invalid value fails the hook with its name: %j', (output) => {
    const result = prints('PreToolUse', output);
    expect(result).toMatchObject({ outcome: 'failed', context: [] });
    expect(result.messages[0]).toContain(Object.keys(output)[0]);
    expect(isDecisive(result)).toBe(false);
  });

  test('in the newer format overrides the older format', () => {
    const both = { decision: 'block', hookSpecificOutput: { permissionDecision: 'allow' } };
    const result = prints('PreToolUse', both);
    expect(result.permission?.behavior).toBe('allow');
    expect(result.block).toBeUndefined();
  });

  test('for the model is bounded, with a note that it was cut', () => {
    const [text = ''] = exits('SessionStart', 0, `${'x'.repeat(9_999)}🪿🪿`).context;
    expect(text).toMatch(/3 more were cut/);
    expect(text.isWellFormed()).toBe(true);
    expect(text.length).toBeLessThan(10_200);
  });
});

describe('several hooks', () => {
  const merged = (...results: ReturnType<typeof exits>[]) => hookVerdict(results, []);
  const rules = (behavior: string) => own('PreToolUse', { permissionDecision: behavior });

  test('have the strictest decision', () => {
    expect(merged(rules('allow'), rules('ask')).permission?.behavior).toBe('ask');
    expect(merged(rules('ask'), rules('deny'), rules('allow')).permission?.behavior).toBe('deny');
    expect(merged(rules('allow'), exits('PreToolUse', 1)).permission?.behavior).toBe('allow');
  });

  test('have the last changed input and all context in order', () => {
    const first = own('PreToolUse', { updatedInput: { a: 1 }, additionalContext: 'One.' });
    const second = own('PreToolUse', { updatedInput: { a: 2 }, additionalContext: 'Two.' });
    expect(merged(first, second, exits('PreToolUse', 0))).toMatchObject({
      updatedInput: { a: 2 },
      context: ['One.', 'Two.'],
    });
  });

  test('deny a question if any hook denies', () => {
    const yes = own('PermissionRequest', { decision: { behavior: 'allow' } });
    const no = own('PermissionRequest', { decision: { behavior: 'deny' } });
    expect(merged(yes, no).answer?.behavior).toBe('deny');
    expect(merged(yes).answer?.behavior).toBe('allow');
    expect(merged().answer).toBeUndefined();
  });
});

test('any hook output is read without an exception, with well-formed texts', () => {
  const json = fc.json().map((text) => `{"hookSpecificOutput":${text},"reason":${text}}`);
  fc.assert(
    fc.property(
      fc.constantFrom(...HOOK_EVENTS),
      fc.constantFrom(0, 1, 2, 127),
      fc.oneof(json, fc.string({ unit: 'binary' })),
      (event, exitCode, text) => {
        const result = exits(event, exitCode, text, text);
        for (const words of [...result.context, ...result.messages, result.detail]) {
          expect(words.isWellFormed()).toBe(true);
        }
      },
    ),
  );
});
