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

describe('a Stop hook, which reviews a run’s end (R6),', () => {
  test('sends the run back with its reason and context, and is asked again', async () => {
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

  test('is a letter in the journal, so that a resumed run has it', async () => {
    const { hooks } = strict('Not yet.');
    const model = scriptedModel([says('Done!')], [says('Now.')]);
    const { records, say } = await leadHarness({ model, staysIdle: true, hooks });
    await say('Go.');
    const letters = (await records()).filter(({ type }) => type === 'letter.received');
    expect(letters).toMatchObject([{ from: 'user' }, { from: 'stop-hook' }]);
  });

  test('is bounded: a run that is never good enough ends, and says so', async () => {
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

  test('counts anew for each run', async () => {
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

  test('lets the run end when it fails itself', async () => {
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

  test('says nothing any more once it was interrupted', async () => {
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

  test('is cut when it has too much to say', async () => {
    const { hooks } = strict('🪿'.repeat(20_000));
    const model = scriptedModel([says('Done!')], [says('Now.')]);
    const { say } = await leadHarness({ model, staysIdle: true, hooks });
    await say('Go.');
    const told = lastUser(model.requests[1]?.body) ?? '';
    expect(told.length).toBeLessThan(10_200);
    expect(told.isWellFormed()).toBe(true);
  });

  test('does not look at a run that a person ended', async () => {
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

  test('does not look at an agent that rests from the start, but at its first run', async () => {
    const { seen, hooks } = strict('Why rest?');
    const model = scriptedModel([says('Done!')], [says('Now.')]);
    const harness = await leadHarness({ model, staysIdle: true, hooks });
    harness.lead.start();
    await settled();
    expect(harness.lead.state).toBe('idle');
    await harness.say('Go.');
    expect(seen).toEqual(['Done!', 'Now.']);
  });

  test('hears a prompt that comes while it looks, before the run ends', async () => {
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
