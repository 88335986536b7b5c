import { describe, expect, test } from 'vitest';
import { HookRunner } from '../../../src/actors/hooks/hook-runner.js';
import type {
  HookEnd,
  HookFunction,
  HookSetup,
} from '../../../src/protocol/permission/hook-setup.js';
import {
  HOOK_EVENTS,
  type HookEvent,
  type HookOptions,
} from '../../../src/protocol/permission/hooks.js';
import type { FeedItem } from '../../../src/protocol/session/feed.js';
import type { JournalBody, JournalRecord } from '../../../src/protocol/session/journal-record.js';
import { StorageError } from '../../../src/protocol/skein-error.js';
import { hookFunction } from '../../fakes/agents/hook-functions.js';
import { settled, virtualClock } from '../../fakes/virtual-clock.js';

const command = (text: string, more: Partial<HookSetup> = {}): HookSetup =>
  hookFunction('PreToolUse', () => undefined, {
    action: { kind: 'command', command: text },
    ...more,
  });

const exited = (exitCode: number, stdout = '', stderr = ''): HookEnd => ({
  kind: 'exited',
  exitCode,
  stdout,
  stderr,
  isCut: false,
});

interface RunnerScript {
  /** Ends of commands by name. A command without an entry runs until it is aborted. */
  readonly ends?: Readonly<Record<string, HookEnd>>;
  readonly record?: (body: JournalBody) => JournalRecord;
}

const runnerWith = (setups: readonly HookSetup[], script: RunnerScript = {}) => {
  const records: JournalBody[] = [];
  const items: FeedItem[] = [];
  const inputs: Record<string, unknown>[] = [];
  const failures: Error[] = [];
  const clock = virtualClock();
  const runner = new HookRunner({
    setups,
    clock,
    runCommand: ({ command: text, input, signal }) => {
      inputs.push(JSON.parse(input));
      const end = script.ends?.[text];
      if (end !== undefined) return Promise.resolve(end);
      return new Promise((resolve) =>
        signal.addEventListener('abort', () => resolve({ kind: 'aborted' })),
      );
    },
    facts: () => ({ session_id: 's', transcript_path: '/t', cwd: '/w', permission_mode: 'plan' }),
    journal: {
      record: script.record ?? ((body) => records.push(body) as unknown as JournalRecord),
      fail: (error) => failures.push(error),
    },
    feed: { emit: (item) => items.push(item) },
  });
  const fire = (event: HookEvent = 'PreToolUse', options: Partial<HookOptions> = {}) =>
    runner.fire(event, { tool_name: 'Edit' }, { signal: new AbortController().signal, ...options });
  return { runner, fire, records, items, inputs, failures, clock };
};

describe('HookRunner', () => {
  test('passes session facts and event data to a hook, with the documented field names', async () => {
    const { fire, inputs } = runnerWith([command('look')], { ends: { look: exited(0) } });
    await fire();
    expect(inputs).toEqual([
      {
        session_id: 's',
        transcript_path: '/t',
        cwd: '/w',
        permission_mode: 'plan',
        hook_event_name: 'PreToolUse',
        tool_name: 'Edit',
      },
    ]);
  });

  test.each(HOOK_EVENTS)(
    'runs a hook of %s once when the event fires, and journals the run',
    async (event) => {
      const seen: unknown[] = [];
      const hook = hookFunction(event, (input) => void seen.push(input), { name: 'counts' });
      const { fire, records, runner } = runnerWith([hook]);
      expect(runner.has(event)).toBe(true);
      await fire(event, { call: 'c1' });
      expect(seen).toMatchObject([{ hook_event_name: event }]);
      expect(records).toEqual([
        {
          type: 'hook.ran',
          event,
          hook: 'counts',
          outcome: 'ok',
          durationMs: 0,
          detail: '',
          call: 'c1',
        },
      ]);
      const others = HOOK_EVENTS.filter((other) => other !== event);
      expect(others.some((other) => runner.has(other))).toBe(false);
    },
  );

  test('runs only hooks whose matcher matches', async () => {
    const only = command('look', { matches: (subject) => subject === 'Write' });
    const { runner, fire, inputs } = runnerWith([only], { ends: { look: exited(0) } });
    expect([runner.has('PreToolUse', 'Edit'), runner.has('PreToolUse', 'Write')]).toEqual([
      false,
      true,
    ]);
    await fire('PreToolUse', { subject: 'Edit' });
    expect(inputs).toEqual([]);
    await fire('PreToolUse', { subject: 'Write' });
    expect(inputs).toHaveLength(1);
  });

  test('starts all hooks at once, and a duplicate hook only once', async () => {
    const { fire, inputs } = runnerWith([command('a'), command('b'), command('a')]);
    const controller = new AbortController();
    const verdict = fire('PreToolUse', { signal: controller.signal });
    await settled();
    expect(inputs).toHaveLength(2);
    controller.abort();
    expect((await verdict).runs.map(({ outcome }) => outcome)).toEqual(['aborted', 'aborted']);
  });

  test('aborts the other hooks as soon as a hook blocks', async () => {
    const setups = [command('slow'), command('strict'), command('endless')];
    const { fire, records } = runnerWith(setups, { ends: { strict: exited(2, '', 'No.') } });
    const { permission, block, runs } = await fire();
    expect([permission?.behavior, block?.hook]).toEqual(['deny', 'strict']);
    expect(runs.map(({ outcome }) => outcome)).toEqual(['aborted', 'blocked', 'aborted']);
    expect(records).toHaveLength(3);
  });

  test('reports a failing hook once with a notice, and does not block', async () => {
    const { fire, items } = runnerWith([command('bad')], { ends: { bad: exited(1, '', 'Oops') } });
    const verdict = await fire();
    await fire();
    expect(verdict).toMatchObject({ context: [], runs: [{ outcome: 'failed' }] });
    expect(verdict.block).toBeUndefined();
    expect(items).toEqual([
      {
        type: 'notice',
        text: 'The PreToolUse hook bad failed, and nothing was blocked: exit code 1: Oops',
      },
    ]);
  });

  test('runs a hook with `once` a single time', async () => {
    const { runner, fire, inputs } = runnerWith([command('look', { once: true })], {
      ends: { look: exited(0) },
    });
    await fire();
    expect(runner.has('PreToolUse')).toBe(false);
    await fire();
    expect(inputs).toHaveLength(1);
  });

  test('does not wait for an asynchronous hook and ignores its result', async () => {
    const { runner, fire, records } = runnerWith([command('aside', { isAsync: true })]);
    expect(await fire()).toMatchObject({ runs: [] });
    runner.close();
    await settled();
    expect(records).toMatchObject([{ hook: 'aside', outcome: 'aborted' }]);
  });

  test('aborts running hooks and runs no hook after it is closed', async () => {
    const { runner, fire, inputs } = runnerWith([command('look')]);
    const running = fire();
    await settled();
    runner.close();
    expect((await running).runs).toMatchObject([{ outcome: 'aborted' }]);
    await fire();
    expect(inputs).toHaveLength(1);
  });

  test('keeps the verdict of a hook if its record cannot be written', async () => {
    const full = new StorageError('The disk is full.');
    const { fire, failures } = runnerWith([command('look')], {
      ends: { look: exited(2, '', 'No.') },
      record: () => {
        throw full;
      },
    });
    expect((await fire()).block?.reason).toBe('No.');
    expect(failures).toEqual([full]);
  });

  test('passes the serializable fields if the input is not valid JSON', async () => {
    const { runner, inputs } = runnerWith([command('look')], {
      ends: { look: exited(0) },
    });
    const options = { signal: new AbortController().signal };
    await runner.fire('PreToolUse', { tool_name: 'Edit', tool_input: 1n }, options);
    expect(inputs).toMatchObject([{ session_id: 's', tool_name: 'Edit', unreadable: true }]);
  });
});

describe('a hook that is a function', () => {
  const outcomeOf = async (run: HookFunction) => {
    const { fire, items, clock } = runnerWith([hookFunction('PreToolUse', run, { name: 'mine' })]);
    const verdict = fire();
    await clock.advance(60_000);
    const notices = items.flatMap((item) => (item.type === 'notice' ? [item.text] : []));
    return { ...(await verdict), notices };
  };

  test('gets input, call and signal, and returns the same output as a command', async () => {
    const seen: unknown[] = [];
    const { runner } = runnerWith([
      hookFunction('PreToolUse', async (input, call, { signal }) => {
        seen.push(input.tool_name, call, signal.aborted);
        return { hookSpecificOutput: { permissionDecision: 'ask', additionalContext: 'Hm.' } };
      }),
    ]);
    const options = { call: 'c1', signal: new AbortController().signal };
    const verdict = await runner.fire('PreToolUse', { tool_name: 'Edit' }, options);
    expect(seen).toEqual(['Edit', 'c1', false]);
    expect(verdict).toMatchObject({ permission: { behavior: 'ask' }, context: ['Hm.'] });
  });

  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  test.each<[string, HookFunction, string, readonly RegExp[]]>([
    ['rejects', () => Promise.reject(new Error('boo')), 'failed', [/boo/]],
    [
      'throws',
      () => {
        throw new Error('boo');
      },
      'failed',
      [/boo/],
    ],
    ['never settles', () => new Promise(() => {}), 'timeout', [/within 60 seconds/]],
    ['returns a string', () => 'no', 'failed', [/cannot be used/]],
    ['returns a cyclic object', () => cyclic, 'failed', [/not JSON/]],
    ['returns a function', () => () => 1, 'failed', [/not JSON/]],
    ['returns a too long output', () => ({ reason: 'x'.repeat(2e6) }), 'failed', [/too long/]],
    ['returns undefined', () => undefined, 'ok', []],
    ['returns null', () => null, 'ok', []],
  ])('that %s', async (_, run, outcome, sentences) => {
    const { runs, notices, permission } = await outcomeOf(run);
    expect(runs).toMatchObject([{ hook: 'mine', outcome }]);
    expect(notices).toEqual(sentences.map((sentence) => expect.stringMatching(sentence)));
    expect(permission).toBeUndefined();
  });

  test('cannot change the input of other hooks', async () => {
    const spoil: HookFunction = (input) => {
      (input as Record<string, unknown>).tool_name = 'Bash';
    };
    const seen: unknown[] = [];
    const look: HookFunction = (input) => void seen.push(input.tool_name);
    const { fire } = runnerWith([
      hookFunction('PreToolUse', spoil),
      hookFunction('PreToolUse', look),
    ]);
    await fire();
    expect(seen).toEqual(['Edit']);
  });

  test('gets an abort signal if the event is aborted', async () => {
    let hookSignal: AbortSignal | undefined;
    const waits: HookFunction = (_, __, { signal }) => {
      hookSignal = signal;
      return new Promise(() => {});
    };
    const { fire } = runnerWith([hookFunction('PreToolUse', waits)]);
    const controller = new AbortController();
    const verdict = fire('PreToolUse', { signal: controller.signal });
    await settled();
    controller.abort();
    expect((await verdict).runs).toMatchObject([{ outcome: 'aborted' }]);
    expect(hookSignal?.aborted).toBe(true);
  });
});
