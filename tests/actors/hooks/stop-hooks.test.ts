import { describe, expect, test } from 'vitest';
import type { HookFunction } from '../../../src/protocol/permission/hook-setup.js';
import { hookFunction } from '../../fakes/agents/hook-functions.js';
import { calls, says, scriptedModel } from '../../fakes/agents/scripted-model.js';
import { settled } from '../../fakes/virtual-clock.js';
import { leadHarness } from '../session/lead-harness.js';

const lastUser = (body: string | undefined) => {
  const { messages } = JSON.parse(body ?? '{}') as {
    messages: { content: { text?: string }[] }[];
  };
  return messages.at(-1)?.content[0]?.text;
};

const FAILED = { hookSpecificOutput: { additionalContext: '1 failed' } };

const stopHook = (run: HookFunction) => [hookFunction('Stop', run)];

/** Hook that blocks once for each reason. */
const strict = (...reasons: readonly string[]) => {
  const seen: string[] = [];
  const review: HookFunction = async ({ last_assistant_message: answer }) => {
    const reason = reasons[seen.push(String(answer)) - 1];
    return reason === undefined ? {} : { decision: 'block', reason, ...FAILED };
  };
  return { seen, hooks: [hookFunction('Stop', review)] };
};

describe('a Stop hook, which reviews the end of a run (R6),', () => {
  test('continues the run with its reason and context, and runs again at the next end', async () => {
    const { seen, hooks } = strict('The tests fail.');
    const model = scriptedModel(
      [says('Done!')],
      [calls('c', 'Look', { name: 'x' })],
      [says('Now.')],
    );
    const { items, say } = await leadHarness({ model, staysIdle: true, hooks });
    await say('Mend it.');
    expect(lastUser(model.requests[1]?.body)).toBe(
      'Do not end here. A check of the finished work says: The tests fail.\n1 failed',
    );
    expect(seen).toEqual(['Done!', 'Now.']);
    expect(items.filter(({ type }) => type === 'run.ended')).toHaveLength(1);
  });

  test('that blocks is journaled as a letter', async () => {
    const { hooks } = strict('Not yet.');
    const model = scriptedModel([says('Done!')], [says('Now.')]);
    const { records, say } = await leadHarness({ model, staysIdle: true, hooks });
    await say('Go.');
    const letters = (await records()).filter(({ type }) => type === 'letter.received');
    expect(letters).toMatchObject([{ from: 'user' }, { from: 'stop-hook' }]);
  });

  test('blocks up to a limit; then the run ends and the limit is journaled', async () => {
    const model = scriptedModel(...Array.from({ length: 4 }, () => [says('Done!')]));
    const { items, records, say } = await leadHarness({
      model,
      staysIdle: true,
      limits: { maxSentBack: 3 },
      hooks: stopHook(async () => ({ decision: 'block', reason: 'Never.' })),
    });
    await say('Go.');
    expect(items.at(-1)).toMatchObject({ type: 'run.ended', stop: { reason: 'end_turn' } });
    expect(await records()).toContainEqual(
      expect.objectContaining({ type: 'bound.hit', what: 'sent-back', limit: 3 }),
    );
  });

  test('has its limit counted from zero in each run', async () => {
    const model = scriptedModel(...Array.from({ length: 4 }, () => [says('Done!')]));
    const hooks = stopHook(async () => ({ decision: 'block' }));
    const harness = await leadHarness({
      model,
      staysIdle: true,
      limits: { maxSentBack: 1 },
      hooks,
    });
    await harness.say('One.');
    await harness.say('Two.');
    expect(model.requests).toHaveLength(4);
  });

  test('does not block the end of the run if it fails', async () => {
    const model = scriptedModel([says('Done!')]);
    const hooks = stopHook(() => Promise.reject(new Error('no shell')));
    const { items, say } = await leadHarness({ model, staysIdle: true, hooks });
    await say('Go.');
    expect(items).toContainEqual({
      type: 'notice',
      text: 'The Stop hook a hook failed, and nothing was blocked: no shell',
    });
    expect(items.at(-1)).toMatchObject({ type: 'run.ended', stop: { reason: 'end_turn' } });
  });

  test('can be interrupted', async () => {
    const model = scriptedModel([says('Done!')]);
    let aborted = false;
    const hooks = stopHook(
      (_, __, { signal }) =>
        new Promise(() =>
          signal.addEventListener('abort', () => {
            aborted = true;
          }),
        ),
    );
    const { lead, items, say } = await leadHarness({ model, staysIdle: true, hooks });
    await say('Go.');
    expect(lead.state).toBe('tool-running');
    lead.interrupt();
    await settled();
    expect(aborted).toBe(true);
    expect(items.at(-1)).toMatchObject({ type: 'run.ended', stop: { reason: 'interrupted' } });
  });

  test('is ignored if it blocks after an interrupt', async () => {
    let block = () => {};
    const hooks = stopHook(
      () =>
        new Promise((resolve) => {
          block = () => resolve({ decision: 'block', reason: 'Too late.' });
        }),
    );
    const model = scriptedModel([says('Done!')]);
    const { lead, say, records } = await leadHarness({ model, staysIdle: true, hooks });
    await say('Go.');
    lead.interrupt();
    block();
    await settled();
    expect(lead.isIdle).toBe(true);
    const letters = (await records()).filter(({ type }) => type === 'letter.received');
    expect(letters).toMatchObject([{ from: 'user' }]);
  });

  test('has a too long reason cut to valid text', async () => {
    const { hooks } = strict('🪿'.repeat(20_000));
    const model = scriptedModel([says('Done!')], [says('Now.')]);
    const { say } = await leadHarness({ model, staysIdle: true, hooks });
    await say('Go.');
    const reason = lastUser(model.requests[1]?.body) ?? '';
    expect(reason.length).toBeLessThan(10_200);
    expect(reason.isWellFormed()).toBe(true);
  });

  test('does not run at the end of a run without turns', async () => {
    const { seen, hooks } = strict();
    const model = scriptedModel([says('Done!')]);
    const limits = { maxTurns: 0 };
    const harness = await leadHarness({ model, staysIdle: true, hooks });
    await harness.say('Go.');
    expect(seen).toEqual(['Done!']);
    const none = scriptedModel();
    const idle = await leadHarness({ model: none, staysIdle: true, limits, hooks });
    await idle.say('Go.');
    expect(seen).toEqual(['Done!']);
  });

  test('does not run for an agent without a prompt, only for its first run', async () => {
    const { seen, hooks } = strict('Why rest?');
    const model = scriptedModel([says('Done!')], [says('Now.')]);
    const harness = await leadHarness({ model, staysIdle: true, hooks });
    harness.lead.start();
    await settled();
    expect(harness.lead.state).toBe('idle');
    await harness.say('Go.');
    expect(seen).toEqual(['Done!', 'Now.']);
  });

  test('lets a prompt that arrives while it runs continue the run', async () => {
    const model = scriptedModel([says('Done!')], [says('And that.')]);
    let pass = () => {};
    const hooks = stopHook(
      () =>
        new Promise((resolve) => {
          pass = () => resolve({});
        }),
    );
    const { items, say } = await leadHarness({ model, staysIdle: true, hooks });
    await say('Go.');
    await say('And this.');
    pass();
    await settled();
    pass();
    await settled();
    expect(lastUser(model.requests[1]?.body)).toBe('And this.');
    expect(items.filter(({ type }) => type === 'run.ended')).toHaveLength(1);
  });
});
