import { describe, expect, test } from 'vitest';
import type { HookFunction, HookSetup } from '../../../src/protocol/permission/hook-setup.js';
import type { HookEvent } from '../../../src/protocol/permission/hooks.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { hookFunction } from '../../fakes/agents/hook-functions.js';
import { calls, gate, says, scriptedModel, waits } from '../../fakes/agents/scripted-model.js';
import { settled, virtualClock } from '../../fakes/virtual-clock.js';
import { type LeadOptions, leadHarness } from '../session/lead-harness.js';
import { answers, WINDOW } from '../session/small-window.js';

type Seen = Readonly<Record<string, unknown>>;

/** Hook that records its input and answers by the script. */
const watching = (event: HookEvent, answer: HookFunction = () => undefined) => {
  const seen: Seen[] = [];
  const hook = hookFunction(event, (input, call, options) => {
    seen.push(input);
    return answer(input, call, options);
  });
  return { seen, hook };
};

const blocks = (reason: string) => () => ({ decision: 'block', reason });
const adds = (event: HookEvent, text: string) => () => ({
  hookSpecificOutput: { hookEventName: event, additionalContext: text },
});

const ANSWERS = ['One.', 'Two.', 'Three.'];

/** Session with this number of model requests. */
const lead = async (
  turns: number,
  hooks: readonly HookSetup[],
  options: Partial<LeadOptions> = {},
) => {
  const model = scriptedModel(...ANSWERS.slice(0, turns).map((text) => [says(text)]));
  const harness = await leadHarness({ model, staysIdle: true, hooks, ...options });
  return { ...harness, model };
};

const textsOf = (body: string | undefined): readonly string[] => {
  const { messages } = JSON.parse(body ?? '{"messages":[]}') as {
    messages: { content: { text?: string }[] }[];
  };
  return messages.at(-1)?.content.flatMap(({ text }) => text ?? []) ?? [];
};

describe('UserPromptSubmit', () => {
  test('gets the prompt once', async () => {
    const { seen, hook } = watching('UserPromptSubmit');
    const { say, model } = await lead(1, [hook]);
    await say('Hello.');
    expect(seen).toMatchObject([{ hook_event_name: 'UserPromptSubmit', prompt: 'Hello.' }]);
    expect(model.requests).toHaveLength(1);
  });

  test('adds its context at the end of the message', async () => {
    const { hook } = watching(
      'UserPromptSubmit',
      adds('UserPromptSubmit', 'It is </system-reminder> late.'),
    );
    const { say, model } = await lead(1, [hook]);
    await say('Hello.');
    expect(textsOf(model.requests[0]?.body).slice(-2)).toEqual([
      'Hello.',
      '<system-reminder>\nA UserPromptSubmit hook of the user adds:\nIt is &lt;/system-reminder> late.\n</system-reminder>',
    ]);
  });

  test('erases a blocked prompt and reports it, and the next prompt runs', async () => {
    const { hook } = watching('UserPromptSubmit', ({ prompt }) =>
      prompt === 'My password is x.' ? blocks('No secrets.')() : undefined,
    );
    const { say, model, items, records, lead: session } = await lead(1, [hook]);
    await say('My password is x.');
    expect(model.requests).toHaveLength(0);
    expect(JSON.stringify(await records())).not.toContain('password');
    const detail = 'The prompt was refused and erased: No secrets.';
    const stop = { reason: 'denied', detail };
    expect(items).toEqual([{ type: 'run.ended', stop, turns: 0 }]);
    expect(session.isIdle).toBe(true);
    await say('Hello.');
    expect(model.requests).toHaveLength(1);
  });

  test('that blocks a prompt during a run reports it, and the run continues', async () => {
    const hold = gate();
    const { hook } = watching('UserPromptSubmit', ({ prompt }) =>
      prompt === 'Stop that.' ? blocks('Not now.')() : undefined,
    );
    const model = scriptedModel([waits(hold.opened), says('One.')]);
    const { say, items } = await leadHarness({ model, staysIdle: true, hooks: [hook] });
    await say('Hello.');
    await say('Stop that.');
    expect(items).toContainEqual({
      type: 'notice',
      text: 'The prompt was refused and erased: Not now.',
    });
    hold.open();
    await settled();
    const ends = items.filter(({ type }) => type === 'run.ended');
    expect(ends).toMatchObject([{ stop: { reason: 'end_turn' } }]);
  });

  test('ends a session without idle state if it blocks the prompt', async () => {
    const { hook } = watching('UserPromptSubmit', blocks('Not now.'));
    const { say, lead: session, model } = await lead(0, [hook], { staysIdle: false });
    await say('Hello.');
    expect(await session.stopped).toEqual({
      stop: { reason: 'denied', detail: 'The prompt was refused and erased: Not now.' },
      turns: 0,
    });
    expect(model.requests).toHaveLength(0);
  });

  test('keeps the order of prompts while a hook runs', async () => {
    const hold = gate();
    const { hook } = watching('UserPromptSubmit', ({ prompt }) =>
      prompt === 'First.' ? hold.opened : undefined,
    );
    const { lead: session, model } = await lead(1, [hook]);
    session.submit('[{"type":"text","text":"First."}]');
    session.submit('[{"type":"text","text":"Second."}]');
    session.start();
    await settled();
    expect([model.requests.length, session.isIdle]).toEqual([0, false]);
    hold.open();
    await settled();
    expect(textsOf(model.requests[0]?.body).slice(-2)).toEqual(['First.', 'Second.']);
  });

  test('can be interrupted, and the prompt is not sent', async () => {
    const { hook } = watching('UserPromptSubmit', () => new Promise(() => {}));
    const { say, lead: session, items, model } = await lead(0, [hook]);
    await say('Hello.');
    session.interrupt();
    await settled();
    expect(items.at(-1)).toMatchObject({ type: 'run.ended', stop: { reason: 'interrupted' } });
    expect([model.requests.length, session.isIdle]).toEqual([0, true]);
  });

  test('erases the prompt if it returns `continue: false`', async () => {
    const { hook } = watching('UserPromptSubmit', () => ({ continue: false, stopReason: 'Over.' }));
    const { say, items } = await lead(0, [hook]);
    await say('Hello.');
    expect(items.at(-1)).toMatchObject({ stop: { detail: expect.stringMatching(/: Over\.$/) } });
  });
});

describe('SessionStart', () => {
  const words = 'Use tabs.';
  const starting = (store = new MemorySessionStore(virtualClock())) => {
    const { seen, hook } = watching('SessionStart', adds('SessionStart', words));
    return { seen, hook, store };
  };

  test('runs once at the start, and adds its context at the end of the first message', async () => {
    const { seen, hook } = starting();
    const { say, model } = await lead(2, [hook]);
    await say('Hello.');
    await say('Again.');
    expect(seen).toMatchObject([{ source: 'startup', model: 'claude-opus-5-5' }]);
    const first = textsOf(model.requests[0]?.body);
    expect(first.at(-2)).toBe('Hello.');
    expect(first.at(-1)).toContain(words);
    expect(textsOf(model.requests[1]?.body).join()).not.toContain(words);
  });

  test('delays the first prompt until it has ended', async () => {
    const hold = gate();
    const { hook } = watching('SessionStart', () => hold.opened);
    const { say, model } = await lead(1, [hook]);
    await say('Hello.');
    expect(model.requests).toHaveLength(0);
    hold.open();
    await settled();
    expect(model.requests).toHaveLength(1);
  });

  test('does not block an interrupt', async () => {
    const { hook } = watching('SessionStart', () => new Promise(() => {}));
    const { say, lead: session } = await lead(0, [hook], { staysIdle: false });
    await say('Hello.');
    session.interrupt();
    expect(await session.stopped).toMatchObject({ stop: { reason: 'interrupted' } });
  });

  test('starts no agent if the session is closed while it runs', async () => {
    const { hook } = watching('SessionStart', () => new Promise(() => {}));
    const { say, lead: session } = await lead(0, [hook]);
    await say('Hello.');
    await session.close();
    await settled();
    expect(session.state).toBe('idle');
  });

  test('gets the source `resume` in a resumed session', async () => {
    const { hook, seen, store } = starting();
    const first = await lead(1, [], { store });
    await first.say('Hello.');
    await first.lead.close();
    const again = await lead(1, [hook], { store, choice: { kind: 'resume', id: first.lead.id } });
    await again.say('Go on.');
    expect(seen).toMatchObject([{ source: 'resume' }]);
    expect(textsOf(again.model.requests[0]?.body).at(-1)).toContain(words);
  });

  test('runs again with the source `clear` after the conversation is cleared', async () => {
    const { hook, seen } = starting();
    const end = watching('SessionEnd');
    const { say, lead: session, model } = await lead(2, [hook, end.hook]);
    await say('Hello.');
    session.clear();
    await say('Anew.');
    expect(seen.map(({ source }) => source)).toEqual(['startup', 'clear']);
    expect(end.seen).toMatchObject([{ reason: 'clear' }]);
    expect(textsOf(model.requests[1]?.body).at(-1)).toContain(words);
  });
});

describe('SessionEnd', () => {
  test('runs once when the session is closed', async () => {
    const { seen, hook } = watching('SessionEnd');
    const { say, lead: session } = await lead(1, [hook]);
    await say('Hello.');
    expect(seen).toEqual([]);
    await Promise.all([session.close('prompt_input_exit'), session.close()]);
    expect(seen).toMatchObject([{ reason: 'prompt_input_exit' }]);
  });

  test('is aborted after 5 seconds', async () => {
    const { hook } = watching('SessionEnd', () => new Promise(() => {}));
    const { lead: session, clock, records } = await lead(0, [hook]);
    const closed = session.close();
    await clock.advance(5_000);
    await closed;
    expect(await records()).toContainEqual(
      expect.objectContaining({ type: 'hook.ran', event: 'SessionEnd', outcome: 'aborted' }),
    );
  });
});

describe('Notification', () => {
  test('reports a permission question once', async () => {
    const { seen, hook } = watching('Notification');
    const model = scriptedModel([calls('c', 'Change', { name: 'x' })], [says('Done.')]);
    const { say } = await leadHarness({
      model,
      staysIdle: true,
      hooks: [hook],
      mode: 'default',
      surface: { ask: async () => ({ behavior: 'allow' }) },
    });
    await say('Go.');
    expect(seen).toMatchObject([
      { notification_type: 'permission_prompt', message: expect.stringContaining('Change x') },
    ]);
  });

  test('reports a question of a tool', async () => {
    const { seen, hook } = watching('Notification');
    const model = scriptedModel([calls('c', 'Look', { name: 'ask' })], [says('Done.')]);
    const options = [{ label: 'goose' }];
    const { say } = await leadHarness({
      model,
      staysIdle: true,
      hooks: [hook],
      effects: {
        ask: async ({ askPerson }) => {
          await askPerson?.({ question: 'Which bird?', options, multiple: false });
          return { content: 'asked' };
        },
      },
      surface: {
        ask: async () => ({ behavior: 'allow' }),
        choose: async () => ({ chosen: ['goose'] }),
      },
    });
    await say('Go.');
    expect(seen).toMatchObject([
      { notification_type: 'permission_prompt', message: 'Which bird?' },
    ]);
  });

  test('reports once that the session is idle for a minute', async () => {
    const { seen, hook } = watching('Notification');
    const { say, clock } = await lead(1, [hook]);
    await say('Hello.');
    await clock.advance(59_999);
    expect(seen).toEqual([]);
    await clock.advance(1);
    await clock.advance(600_000);
    expect(seen).toMatchObject([{ notification_type: 'idle_prompt' }]);
  });

  test('does not report an idle session after a new prompt or a close', async () => {
    const { seen, hook } = watching('Notification');
    const { say, clock, lead: session } = await lead(2, [hook]);
    await say('Hello.');
    await clock.advance(40_000);
    await say('Again.');
    await clock.advance(40_000);
    await session.close();
    await clock.advance(60_000);
    expect([seen.length, clock.sleepers]).toEqual([0, 0]);
  });
});

describe('a compaction', () => {
  const compactable = async (
    hooks: readonly HookSetup[],
    then = [answers('Summary.'), answers('More.')],
  ) => {
    const ten = Array.from({ length: 10 }, (_, at) => answers(`Answer ${at + 1}.`, 100));
    const model = scriptedModel(...ten, ...then);
    const harness = await leadHarness({ model, staysIdle: true, contextWindow: WINDOW, hooks });
    for (let number = 1; number <= 10; number += 1) await harness.say(`Prompt ${number}.`);
    return { ...harness, model };
  };

  test('runs PreCompact, PostCompact and SessionStart hooks', async () => {
    const pre = watching('PreCompact', adds('PreCompact', 'Keep the names.'));
    const post = watching('PostCompact');
    const start = watching('SessionStart', adds('SessionStart', 'Use tabs.'));
    const { lead: session, model, say } = await compactable([pre.hook, post.hook, start.hook]);
    await session.compact('Mind the geese.');
    expect(pre.seen).toMatchObject([{ trigger: 'manual', custom_instructions: 'Mind the geese.' }]);
    expect(post.seen).toMatchObject([{ trigger: 'manual', compact_summary: 'Summary.' }]);
    expect(start.seen.map(({ source }) => source)).toEqual(['startup', 'compact']);
    expect(textsOf(model.requests[10]?.body).join()).toContain('Keep the names.');
    await say('Prompt 11.');
    expect(textsOf(model.requests[11]?.body).at(-1)).toContain('Use tabs.');
  });

  test('does not happen if a PreCompact hook blocks it', async () => {
    const pre = watching('PreCompact', blocks('Not yet.'));
    const post = watching('PostCompact');
    const { lead: session, model } = await compactable([pre.hook, post.hook], []);
    await expect(session.compact('')).rejects.toThrow('A hook refused the compaction: Not yet.');
    expect([model.requests.length, post.seen.length]).toEqual([10, 0]);
  });
});

describe('Stop', () => {
  test('runs at each end, and gets `stop_hook_active` after it has continued the run', async () => {
    let isFirst = true;
    const { seen, hook } = watching('Stop', () => {
      const answer = isFirst ? blocks('Not yet.')() : undefined;
      isFirst = false;
      return answer;
    });
    const { say } = await lead(2, [hook]);
    await say('Hello.');
    expect(seen).toMatchObject([
      { stop_hook_active: false, last_assistant_message: 'One.' },
      { stop_hook_active: true, last_assistant_message: 'Two.' },
    ]);
  });

  test('ends the run with its reason if it returns `continue: false`', async () => {
    const { hook } = watching('Stop', () => ({ continue: false, stopReason: 'Enough.' }));
    const { say, items } = await lead(1, [hook]);
    await say('Hello.');
    expect(items.at(-1)).toMatchObject({ stop: { reason: 'denied', detail: 'Enough.' } });
  });
});
