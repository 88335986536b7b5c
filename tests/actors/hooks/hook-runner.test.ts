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

interface DeskScript {
  /** Ends of commands by name. A command without an entry runs until it is aborted. */
  readonly ends?: Readonly<Record<string, HookEnd>>;
  readonly record?: (body: JournalBody) => JournalRecord;
}

const deskWith = (setups: readonly HookSetup[], script: DeskScript = {}) => {
  const records: JournalBody[] = [];
  const items: FeedItem[] = [];
  const inputs: Record<string, unknown>[] = [];
  const failures: Error[] = [];
  const clock = virtualClock();
  const permissions = new HookRunner({
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
  const fire = (event: HookEvent = 'PreToolUse', terms: Partial<HookOptions> = {}) =>
    permissions.fire(
      event,
      { tool_name: 'Edit' },
      { signal: new AbortController().signal, ...terms },
    );
  return { desk: permissions, fire, records, items, inputs, failures, clock };
};

describe('the desk of an agent’s hooks', () => {
  test('tells a hook everything, in the words of the wire', async () => {
    const { fire, inputs } = deskWith([command('look')], { ends: { look: exited(0) } });
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
    'runs a hook of %s once when it is fired, and journals it',
    async (event) => {
      const seen: unknown[] = [];
      const hook = hookFunction(event, (input) => void seen.push(input), { name: 'counts' });
      const { fire, records, desk: permissions } = deskWith([hook]);
      expect(permissions.has(event)).toBe(true);
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
      expect(others.some((other) => permissions.has(other))).toBe(false);
    },
  );

  test('runs only what matches', async () => {
    const only = command('look', { matches: (subject) => subject === 'Write' });
    const { desk: permissions, fire, inputs } = deskWith([only], { ends: { look: exited(0) } });
    expect([permissions.has('PreToolUse', 'Edit'), permissions.has('PreToolUse', 'Write')]).toEqual(
      [false, true],
    );
    await fire('PreToolUse', { subject: 'Edit' });
    expect(inputs).toEqual([]);
    await fire('PreToolUse', { subject: 'Write' });
    expect(inputs).toHaveLength(1);
  });

  test('starts all at once, and one that is there twice only once', async () => {
    const { fire, inputs } = deskWith([command('a'), command('b'), command('a')]);
    const controller = new AbortController();
    const verdict = fire('PreToolUse', { signal: controller.signal });
    await settled();
    expect(inputs).toHaveLength(2);
    controller.abort();
    expect((await verdict).runs.map(({ outcome }) => outcome)).toEqual(['aborted', 'aborted']);
  });

  test('ends the rest as soon as one blocks', async () => {
    const setups = [command('slow'), command('strict'), command('endless')];
    const { fire, records } = deskWith(setups, { ends: { strict: exited(2, '', 'No.') } });
    const { permission, block, runs } = await fire();
    expect([permission?.behavior, block?.hook]).toEqual(['deny', 'strict']);
    expect(runs.map(({ outcome }) => outcome)).toEqual(['aborted', 'blocked', 'aborted']);
    expect(records).toHaveLength(3);
  });

  test('says once to people that a hook fails, and lets everything go on', async () => {
    const { fire, items } = deskWith([command('bad')], { ends: { bad: exited(1, '', 'Oops') } });
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

  test('runs a hook that is meant for once only once', async () => {
    const {
      desk: permissions,
      fire,
      inputs,
    } = deskWith([command('look', { once: true })], {
      ends: { look: exited(0) },
    });
    await fire();
    expect(permissions.has('PreToolUse')).toBe(false);
    await fire();
    expect(inputs).toHaveLength(1);
  });

  test('does not wait for a hook that runs beside the rest, nor listen to it', async () => {
    const { desk: permissions, fire, records } = deskWith([command('aside', { isAsync: true })]);
    expect(await fire()).toMatchObject({ runs: [] });
    permissions.close();
    await settled();
    expect(records).toMatchObject([{ hook: 'aside', outcome: 'aborted' }]);
  });

  test('runs nothing once it is closed', async () => {
    const { desk: permissions, fire, inputs } = deskWith([command('look')]);
    const under = fire();
    await settled();
    permissions.close();
    expect((await under).runs).toMatchObject([{ outcome: 'aborted' }]);
    await fire();
    expect(inputs).toHaveLength(1);
  });

  test('does not fail when the disk does, but nothing is recorded after it', async () => {
    const full = new StorageError('The disk is full.');
    const { fire, failures } = deskWith([command('look')], {
      ends: { look: exited(2, '', 'No.') },
      record: () => {
        throw full;
      },
    });
    expect((await fire()).block?.reason).toBe('No.');
    expect(failures).toEqual([full]);
  });

  test('tells as much as can be told of what is no JSON', async () => {
    const { desk: permissions, inputs } = deskWith([command('look')], {
      ends: { look: exited(0) },
    });
    const terms = { signal: new AbortController().signal };
    await permissions.fire('PreToolUse', { tool_name: 'Edit', tool_input: 1n }, terms);
    expect(inputs).toMatchObject([{ session_id: 's', tool_name: 'Edit', unreadable: true }]);
  });
});

describe('a hook that is a function', () => {
  const outcomeOf = async (run: HookFunction) => {
    const { fire, items, clock } = deskWith([hookFunction('PreToolUse', run, { name: 'mine' })]);
    const verdict = fire();
    await clock.advance(60_000);
    const notices = items.flatMap((item) => (item.type === 'notice' ? [item.text] : []));
    return { ...(await verdict), notices };
  };

  test('is given the input and the call, and answers in the words of a command', async () => {
    const seen: unknown[] = [];
    const { desk: permissions } = deskWith([
      hookFunction('PreToolUse', async (input, call, { signal }) => {
        seen.push(input.tool_name, call, signal.aborted);
        return { hookSpecificOutput: { permissionDecision: 'ask', additionalContext: 'Hm.' } };
      }),
    ]);
    const terms = { call: 'c1', signal: new AbortController().signal };
    const verdict = await permissions.fire('PreToolUse', { tool_name: 'Edit' }, terms);
    expect(seen).toEqual(['Edit', 'c1', false]);
    expect(verdict).toMatchObject({ permission: { behavior: 'ask' }, context: ['Hm.'] });
  });

  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  test.each<[string, HookFunction, string, readonly RegExp[]]>([
    ['throws', () => Promise.reject(new Error('boo')), 'failed', [/boo/]],
    [
      'throws at once',
      () => {
        throw new Error('boo');
      },
      'failed',
      [/boo/],
    ],
    ['never settles', () => new Promise(() => {}), 'timeout', [/within 60 seconds/]],
    ['returns words', () => 'no', 'failed', [/cannot be used/]],
    ['returns a circle', () => cyclic, 'failed', [/not JSON/]],
    ['returns a function', () => () => 1, 'failed', [/not JSON/]],
    ['returns too much', () => ({ reason: 'x'.repeat(2e6) }), 'failed', [/too long/]],
    ['returns nothing', () => undefined, 'ok', []],
    ['returns null', () => null, 'ok', []],
  ])('that %s', async (_, run, outcome, sentences) => {
    const { runs, notices, permission } = await outcomeOf(run);
    expect(runs).toMatchObject([{ hook: 'mine', outcome }]);
    expect(notices).toEqual(sentences.map((sentence) => expect.stringMatching(sentence)));
    expect(permission).toBeUndefined();
  });

  test('cannot change what others read', async () => {
    const spoil: HookFunction = (input) => {
      (input as Record<string, unknown>).tool_name = 'Bash';
    };
    const seen: unknown[] = [];
    const look: HookFunction = (input) => void seen.push(input.tool_name);
    const { fire } = deskWith([
      hookFunction('PreToolUse', spoil),
      hookFunction('PreToolUse', look),
    ]);
    await fire();
    expect(seen).toEqual(['Edit']);
  });

  test('is told when nobody waits for it any more', async () => {
    let heard: AbortSignal | undefined;
    const waits: HookFunction = (_, __, { signal }) => {
      heard = signal;
      return new Promise(() => {});
    };
    const { fire } = deskWith([hookFunction('PreToolUse', waits)]);
    const controller = new AbortController();
    const verdict = fire('PreToolUse', { signal: controller.signal });
    await settled();
    controller.abort();
    expect((await verdict).runs).toMatchObject([{ outcome: 'aborted' }]);
    expect(heard?.aborted).toBe(true);
  });
});
