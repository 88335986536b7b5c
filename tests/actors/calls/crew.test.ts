import { describe, expect, test } from 'vitest';
import { type Hooks, NO_VERDICT } from '../../../src/protocol/permission/hooks.js';
import type { PermissionAnswer } from '../../../src/protocol/permission/permission-question.js';
import type { PermissionRule } from '../../../src/protocol/permission/permission-rule.js';
import { type ToolContext, ToolFailure } from '../../../src/protocol/tools/tool.js';
import {
  calls,
  callsBadly,
  choosingModel,
  gate,
  says,
  scriptedModel,
  waits,
} from '../../fakes/agents/scripted-model.js';
import { allows, denies, scriptedSurface } from '../../fakes/agents/scripted-surface.js';
import { settled } from '../../fakes/virtual-clock.js';
import { leadHarness } from '../session/lead-harness.js';

const done = [says('Done.')];

interface Message {
  readonly content: { content: { text: string }[] }[];
}

/** Effect that ends on demand, or when it is aborted. */
const heldEffect = () => {
  const release = gate();
  const effect = ({ signal }: ToolContext) =>
    new Promise<{ content: string }>((resolve, reject) => {
      void release.opened.then(() => resolve({ content: 'held' }));
      signal.addEventListener('abort', () => reject(new Error('cut off')));
    });
  return { ...release, effect };
};

describe('the crew', () => {
  test('runs safe calls together and sends their results in the order of the calls', async () => {
    const [first, second] = [heldEffect(), heldEffect()];
    const model = scriptedModel(
      [calls('c1', 'Look', { name: 'a' }), calls('c2', 'Look', { name: 'b' })],
      done,
    );
    const effects = { a: first.effect, b: second.effect };
    const harness = await leadHarness({ model, effects });
    await harness.say('Go');
    expect(harness.callLog).toEqual(['start a', 'start b']);
    second.open();
    await settled();
    first.open();
    await harness.lead.stopped;
    expect(harness.callLog).toEqual(['start a', 'start b', 'end b', 'end a']);
    expect(Object.keys(harness.results())).toEqual(['c1', 'c2']);
    const sent = JSON.parse(model.requests[1]?.body ?? '') as { messages: { content: unknown }[] };
    expect(JSON.stringify(sent.messages.at(-1))).toMatch(/"c1".*"c2"/);
  });

  test('runs a call with effects alone, and only after the message has ended', async () => {
    const [held, stream] = [heldEffect(), gate()];
    const model = scriptedModel(
      [
        calls('c1', 'Look', { name: 'early' }),
        calls('c2', 'Change', { name: 'a' }),
        calls('c3', 'Look', { name: 'late' }),
        waits(stream.opened),
      ],
      done,
    );
    const harness = await leadHarness({ model, effects: { a: held.effect } });
    await harness.say('Go');
    expect(harness.callLog).toEqual(['start early', 'end early']);
    stream.open();
    await settled();
    expect(harness.callLog.slice(2)).toEqual(['start a']);
    held.open();
    await harness.lead.stopped;
    expect(harness.callLog.slice(2)).toEqual(['start a', 'end a', 'start late', 'end late']);
  });

  test('runs up to 32 calls at once, and any number of calls that only wait', async () => {
    const held = heldEffect();
    const asked = (tool: string) =>
      Array.from({ length: 100 }, (_, at) => calls(`${tool}${at}`, tool, { name: 'a' }));
    const model = scriptedModel([...asked('Look'), ...asked('Wait')], done);
    const harness = await leadHarness({ model, effects: { a: held.effect } });
    await harness.say('Go');
    expect(harness.callLog).toHaveLength(32 + 100);
    held.open();
    await harness.lead.stopped;
    expect(Object.keys(harness.results())).toHaveLength(200);
  });

  test('tells a tool if a person approved this call; an approval by a session rule does not count', async () => {
    const approvals: boolean[] = [];
    const effect = ({ approved }: ToolContext) => {
      approvals.push(approved);
      return { content: 'did' };
    };
    const change = (id: string) => [calls(id, 'Change', { name: 'a' })];
    const model = scriptedModel(change('c1'), change('c2'), change('c3'), done);
    const surface = scriptedSurface(allows, { behavior: 'allow', scope: 'session' });
    const harness = await leadHarness({ model, surface, mode: 'default', effects: { a: effect } });
    await harness.say('Go');
    expect(approvals).toEqual([true, true, false]);
  });

  test('journals each call before it starts and after it ends', async () => {
    const model = scriptedModel([calls('c1', 'Change', { name: 'a' })], done);
    const before: string[] = [];
    const effects = {
      a: async () => {
        before.push(...(await harness.records()).map(({ type }) => type));
        return { content: 'did' };
      },
    };
    const harness = await leadHarness({ model, effects });
    await harness.say('Go');
    await harness.lead.stopped;
    expect(before.slice(-3)).toEqual(['call.ruled', 'assistant.received', 'call.started']);
    expect((await harness.records()).map(({ type }) => type)).toContain('call.ended');
  });

  test('sends the error of a tool to the model, and the run continues', async () => {
    const model = scriptedModel(
      [calls('c1', 'Look', { name: 'a' }), calls('c2', 'Look', { name: 'b' })],
      done,
    );
    const effects = {
      a: () => {
        throw new ToolFailure('There is no a. Try b.');
      },
      b: () => {
        throw new TypeError('x is not a function');
      },
    };
    const harness = await leadHarness({ model, effects });
    await harness.say('Go');
    expect(harness.results()).toEqual({
      c1: 'error: There is no a. Try b.',
      c2: 'error: Look failed unexpectedly: x is not a function',
    });
    expect((await harness.lead.stopped).stop.reason).toBe('end_turn');
  });

  test('answers invalid calls with instructions', async () => {
    const model = scriptedModel(
      [
        calls('c1', 'Look', { name: 7 }),
        calls('c2', 'Dance', {}),
        callsBadly('c3', 'Look', '{"name": "a'),
      ],
      done,
    );
    const harness = await leadHarness({ model });
    await harness.say('Go');
    expect(harness.callLog).toEqual([]);
    expect(harness.results()).toEqual({
      c1: expect.stringMatching(/^error: The input of Look is not valid.*"name"/),
      c2: expect.stringContaining('There is no tool named "Dance". The tools are: Look'),
      c3: expect.stringContaining('You sent: {"name": "a'),
    });
  });

  test('cuts a long reason of a denial in the middle and journals the limit', async () => {
    const model = scriptedModel([calls('c1', 'Change', { name: 'a' })], done);
    const reason = `head${'x'.repeat(1_000_000)}tail`;
    const surface = scriptedSurface({ behavior: 'deny', reason });
    const harness = await leadHarness({ model, surface, mode: 'default' });
    await harness.say('Go');
    const result = harness.results().c1 ?? '';
    expect(result.length).toBeLessThan(401_000);
    expect(result).toMatch(/^error: head[\s\S]*\[… 600008 characters left out …\][\s\S]*tail$/);
    const hit = (await harness.records()).find(({ type }) => type === 'bound.hit');
    expect(hit).toMatchObject({ what: 'tool-result', limit: 400_000 });
  });

  test.each([
    ['text', (text: string) => text],
    ['blocks', (text: string) => [{ type: 'text', text } as const]],
  ])('stores a result of over 25,000 tokens as an artifact: %s', async (_, contentOf) => {
    const limit = `head${'x'.repeat(99_992)}tail`;
    const seen: unknown[] = [];
    const hooks: Hooks = {
      has: (event) => event === 'PostToolUse',
      async fire(_event, { tool_response }) {
        seen.push((tool_response as { content: unknown }).content);
        return { ...NO_VERDICT, context: ['Format it.'] };
      },
    };
    const model = scriptedModel(
      [calls('c1', 'Look', { name: 'a' }), calls('c2', 'Look', { name: 'b' })],
      done,
    );
    const effects = {
      a: () => ({ content: contentOf(limit) }),
      b: () => ({ content: contentOf(`${limit}.`) }),
    };
    const harness = await leadHarness({ model, effects, hooks });
    await harness.say('Go');
    await harness.lead.stopped;
    const { messages } = JSON.parse(model.requests[1]?.body ?? '') as { messages: Message[] };
    const texts = messages.at(-1)?.content.map(({ content }) => content.map(({ text }) => text));
    expect(texts?.[0]?.[0]).toBe(limit);
    expect(texts?.[1]?.[0]).toMatch(
      /^head[\s\S]*has about 25001 tokens[\s\S]*\/c2-result\.txt[\s\S]*tail\.$/,
    );
    expect(texts?.[1]?.[0]?.length).toBeLessThan(4_000);
    expect(texts?.[1]?.[1]).toContain('Format it.');
    expect(seen).toEqual([contentOf(limit), contentOf(`${limit}.`)]);
    const hits = (await harness.records()).filter(({ type }) => type === 'bound.hit');
    expect(hits).toMatchObject([{ what: 'tool-result', limit: 25_000 }]);
  });

  test('replaces half of a surrogate pair', async () => {
    const model = scriptedModel([calls('c1', 'Look', { name: 'a' })], done);
    const harness = await leadHarness({ model, effects: { a: () => ({ content: 'x\ud83e' }) } });
    await harness.say('Go');
    expect(harness.results().c1).toBe('x\ufffd');
  });

  test('records failed work of a tool as an error, without counting the turn as refused', async () => {
    const model = scriptedModel([calls('c1', 'Look', { name: 'a' })], done);
    const effects = { a: () => ({ content: 'exit 1', isError: true, facts: { exitCode: 1 } }) };
    const harness = await leadHarness({ model, effects, limits: { maxRefusedTurns: 1 } });
    await harness.say('Go');
    expect(harness.results().c1).toBe('error: exit 1');
    expect(await harness.records()).toContainEqual(
      expect.objectContaining({ type: 'call.ended', outcome: 'error', facts: { exitCode: 1 } }),
    );
    expect((await harness.lead.stopped).stop.reason).toBe('end_turn');
  });

  test('emits the progress of a tool to the feed', async () => {
    const model = scriptedModel([calls('c1', 'Look', { name: 'a' })], done);
    const effects = {
      a: ({ progress }: ToolContext) => {
        progress('half way');
        return { content: 'did' };
      },
    };
    const harness = await leadHarness({ model, effects });
    await harness.say('Go');
    expect(harness.items).toContainEqual({ type: 'tool.progress', call: 'c1', note: 'half way' });
  });
});

describe('a message with more calls than the limit', () => {
  const fired: string[] = [];
  const hooks: Hooks = {
    has: (event) => event === 'PreToolUse' || event === 'PostToolUse',
    async fire(event, _facts, { call = '' }) {
      fired.push(`${event} ${call}`);
      return NO_VERDICT;
    },
  };
  const TOOLS = ['Look', 'Change', 'Dance'];

  /** A message of 10,000 calls of several classes, or the first of them. */
  const wide = (count = 10_000) =>
    Array.from({ length: count }, (_, at) =>
      calls(`c${at}`, TOOLS[at % TOOLS.length] ?? '', { name: `n${at}` }),
    );

  test('runs the first calls only, and refuses the rest in order without hooks, rulings and questions', async () => {
    fired.length = 0;
    const model = scriptedModel(wide(), done);
    const surface = scriptedSurface(...Array.from({ length: 67 }, () => allows));
    const harness = await leadHarness({ model, hooks, surface, mode: 'default' });
    await harness.say('Go');
    expect((await harness.lead.stopped).stop.reason).toBe('end_turn');
    const results = Object.entries(harness.results());
    expect(results.map(([id]) => id)).toEqual(wide().map((_, at) => `c${at}`));
    const refused = results.filter(([, text]) => text.includes('Not run'));
    expect(refused.map(([id]) => id)).toEqual(results.slice(200).map(([id]) => id));
    expect(refused[0]?.[1]).toMatch(/^error: .*at most 200 calls.*skein\.maxCallsPerMessage/);
    expect(Math.max(...refused.slice(1).map(([, text]) => text.length))).toBeLessThan(100);
    const ran = harness.callLog.filter((line) => line.startsWith('start '));
    expect(ran).toHaveLength(134);
    const records = await harness.records();
    const numbers = [
      ...fired.map((line) => line.split(' ')[1] ?? ''),
      ...records.flatMap((it) =>
        it.type === 'call.ruled' || it.type === 'question.asked' ? [it.call] : [],
      ),
    ].map((id) => Number(id.slice(1)));
    expect(Math.max(...numbers)).toBeLessThan(200);
    expect(records.filter(({ type }) => type === 'bound.hit')).toMatchObject([
      { what: 'calls-per-message', limit: 200 },
    ]);
  });

  test('is bounded after a crash too, by the position of a call in its message', async () => {
    const held = heldEffect();
    const before = await leadHarness({
      model: scriptedModel(wide(6)),
      effects: { n1: held.effect },
    });
    await before.say('Go');
    await before.lead.close();
    const after = await leadHarness({
      model: scriptedModel(done),
      limits: { maxCallsPerMessage: 4 },
      store: before.store,
      choice: { kind: 'resume', id: before.lead.id },
    });
    after.lead.start();
    await after.lead.stopped;
    expect(after.callLog).toEqual(['start n3', 'end n3']);
    expect(after.results()).toMatchObject({
      c1: expect.stringContaining('Skein was stopped while this call was running'),
      c3: 'did n3',
      c4: expect.stringContaining('Not run'),
    });
  });
});

describe('turns whose calls are all refused', () => {
  const DENY_ALL: readonly PermissionRule[] = [
    { behavior: 'deny', text: 'Change', source: 'user' },
  ];
  const crash = () => {
    throw new TypeError('x is not a function');
  };
  const fail = () => {
    throw new ToolFailure('There is no such file.');
  };
  const WARNING = 'every call of your last';

  /** Runs 20 turns. Returns the requests with a warning, counted from 0, and the stop reason. */
  const twentyTurns = async (tool: string, effect?: () => never) => {
    const names = Array.from({ length: 20 }, (_, at) => `n${at}`);
    const effects = Object.fromEntries(names.map((name) => [name, effect ?? crash]));
    const model = choosingModel((_, number) => {
      const name = names[number - 1];
      return name === undefined ? done : [calls(name, tool, { name })];
    });
    const harness = await leadHarness({ model, effects, rules: DENY_ALL });
    await harness.say('Go');
    const { stop } = await harness.lead.stopped;
    const warned = model.requests.flatMap(({ body }, at) => {
      const { messages } = JSON.parse(body) as { messages: unknown[] };
      return JSON.stringify(messages.at(-1)).includes(WARNING) ? [at] : [];
    });
    return { reason: stop.reason, requests: model.requests.length, warned };
  };

  test.each([
    ['an unknown tool', 'Dance', undefined],
    ['a denial', 'Change', undefined],
    ['a crashed tool', 'Look', crash],
  ])(
    'warn the model from the fifth turn and stop the agent after the fifteenth: %s',
    async (_, tool, effect) => {
      expect(await twentyTurns(tool, effect)).toEqual({
        reason: 'repeated_tool_failure',
        requests: 15,
        warned: [5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
      });
    },
  );

  test('do not include turns whose calls ran and failed', async () => {
    expect(await twentyTurns('Look', fail)).toEqual({
      reason: 'end_turn',
      requests: 21,
      warned: [],
    });
  });

  test('have limits of their own in the settings', async () => {
    const model = choosingModel((_, number) => [calls(`c${number}`, 'Dance', { number })]);
    const limits = { refusedTurnsBeforeWarning: 1, maxRefusedTurns: 2 };
    const harness = await leadHarness({ model, limits });
    await harness.say('Go');
    expect((await harness.lead.stopped).stop.reason).toBe('repeated_tool_failure');
    expect(model.requests).toHaveLength(2);
    expect(model.requests[1]?.body).toContain(`${WARNING} 1 turn`);
  });
});

describe('an interrupt', () => {
  test('aborts a running tool that can be cancelled, and answers calls that have not started', async () => {
    const [cancelled, stamped] = [heldEffect(), gate()];
    const model = scriptedModel([
      calls('c1', 'Look', { name: 'a' }),
      calls('c2', 'Change', { name: 'never' }),
    ]);
    const harness = await leadHarness({ model, effects: { a: cancelled.effect } });
    await harness.say('Go');
    harness.lead.interrupt();
    const { stop } = await harness.lead.stopped;
    expect(stop.reason).toBe('interrupted');
    expect(harness.callLog).toEqual(['start a', 'end a']);
    expect(harness.results()).toEqual({
      c1: expect.stringContaining('error: Interrupted by the user'),
      c2: expect.stringContaining('error: Interrupted by the user'),
    });
    const ends = harness.items.flatMap((it) => (it.type === 'tool.ended' ? [it.description] : []));
    expect(ends.toSorted()).toEqual(['Change never', 'Look a']);
    stamped.open();
  });

  test('waits for a tool that cannot be cancelled, and keeps its result', async () => {
    const held = gate();
    const effects = {
      a: async ({ signal }: ToolContext) => {
        await held.opened;
        return { content: signal.aborted ? 'aborted' : 'finished' };
      },
    };
    const model = scriptedModel([calls('c1', 'Stamp', { name: 'a' })]);
    const harness = await leadHarness({ model, effects });
    await harness.say('Go');
    harness.lead.interrupt();
    await settled();
    expect(harness.lead.state).toBe('tool-running');
    held.open();
    await harness.lead.stopped;
    expect(harness.results()).toEqual({ c1: 'finished' });
  });

  test('withdraws the question, even from a surface that never answers', async () => {
    const surface = scriptedSurface('silence');
    const model = scriptedModel([calls('c1', 'Change', { name: 'a' })]);
    const harness = await leadHarness({ model, surface, mode: 'default' });
    await harness.say('Go');
    expect(harness.lead.state).toBe('awaiting-permission');
    harness.lead.interrupt();
    await harness.lead.stopped;
    await settled();
    expect(surface.withdrawn).toEqual(['q_1']);
    expect(harness.clock.sleepers).toBe(0);
    expect(harness.callLog).toEqual([]);
  });
});

describe('a question', () => {
  const asked = async (reply: PermissionAnswer, input: object = { name: 'a' }) => {
    const surface = scriptedSurface(reply);
    const model = scriptedModel([calls('c1', 'Change', input)], done);
    const harness = await leadHarness({ model, surface, mode: 'default' });
    await harness.say('Go');
    await settled();
    return { ...harness, surface };
  };

  test('contains agent, call, tool, input, description and reason', async () => {
    const { surface, items } = await asked(allows);
    const [question] = surface.questions;
    expect(question).toMatchObject({
      id: 'q_1',
      agent: 'a_1',
      call: 'c1',
      tool: 'Change',
      input: { name: 'a' },
      description: 'Change a',
      inputDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
      reason: expect.any(String),
    });
    expect(items).toContainEqual({ type: 'question.asked', question });
  });

  test('with an allow answer lets the call run', async () => {
    const { callLog, records } = await asked(allows);
    expect(callLog).toEqual(['start a', 'end a']);
    const rulings = (await records()).filter(({ type }) => type === 'call.ruled');
    expect(rulings).toMatchObject([{ behavior: 'ask' }, { behavior: 'allow', by: 'surface-1' }]);
  });

  test('with a deny answer sends the reason to the model', async () => {
    const { callLog, results, items } = await asked(denies('Not on a Monday.'));
    expect(callLog).toEqual([]);
    expect(results()).toEqual({ c1: 'error: Not on a Monday.' });
    const denial = { tool: 'Change', call: 'c1', input: { name: 'a' }, reason: 'Not on a Monday.' };
    expect(items).toContainEqual({ type: 'call.denied', denial });
    const what = { input: { name: 'a' }, description: 'Change a' };
    expect(items).toContainEqual(expect.objectContaining({ type: 'tool.ended', ...what }));
  });

  test('with a deny answer that interrupts ends the run', async () => {
    const surface = scriptedSurface({ behavior: 'deny', reason: 'Stop.', interrupt: true });
    const model = scriptedModel([
      calls('c1', 'Change', { name: 'a' }),
      calls('c2', 'Look', { name: 'b' }),
    ]);
    const harness = await leadHarness({ model, surface, mode: 'default' });
    await harness.say('Go');
    expect((await harness.lead.stopped).stop).toEqual({ reason: 'denied', detail: 'Stop.' });
    expect(Object.keys(harness.results())).toEqual(['c1', 'c2']);
  });

  test('is denied if the surface fails', async () => {
    const surface = scriptedSurface(new Error('the screen is gone'));
    const model = scriptedModel([calls('c1', 'Change', { name: 'a' })], done);
    const harness = await leadHarness({ model, surface, mode: 'default' });
    await harness.say('Go');
    expect(harness.results().c1).toBe(
      'error: The question could not be answered: the screen is gone',
    );
  });

  test('is denied with a reason if no answer arrives in time', async () => {
    const surface = scriptedSurface('silence');
    const model = scriptedModel([calls('c1', 'Change', { name: 'a' })], done);
    const harness = await leadHarness({ model, surface, mode: 'default' });
    await harness.say('Go');
    await harness.clock.advance(599_999);
    expect(harness.lead.state).toBe('awaiting-permission');
    await harness.clock.advance(1);
    expect(harness.results().c1).toBe(
      'error: No answer came within 600 seconds, so the call was not run.',
    );
    expect(surface.withdrawn).toEqual(['q_1']);
  });

  test('is denied at once without a surface', async () => {
    const model = scriptedModel([calls('c1', 'Change', { name: 'a' })], done);
    const harness = await leadHarness({ model, mode: 'default' });
    await harness.say('Go');
    expect(harness.callLog).toEqual([]);
    expect(harness.items.filter(({ type }) => type === 'call.denied')).toHaveLength(1);
  });

  test('answered with another input runs that input without another question', async () => {
    const { callLog, surface, records } = await asked({
      behavior: 'allow',
      updatedInput: { name: 'b' },
    });
    expect(callLog).toEqual(['start b', 'end b']);
    expect(surface.questions).toHaveLength(1);
    const started = (await records()).find(({ type }) => type === 'call.started');
    expect(started).toMatchObject({ description: 'Change b' });
  });

  test('answered with an invalid input does not run the call', async () => {
    const { callLog, results } = await asked({ behavior: 'allow', updatedInput: { name: 7 } });
    expect(callLog).toEqual([]);
    expect(results().c1).toContain('is not valid');
  });

  test('answered with a denied input does not run the call', async () => {
    const surface = scriptedSurface({ behavior: 'allow', updatedInput: { name: 'secret' } });
    const model = scriptedModel([calls('c1', 'Change', { name: 'a' })], done);
    const rules = [{ behavior: 'deny', text: 'Change(/secret)', source: 'project' }] as const;
    const harness = await leadHarness({ model, surface, rules, mode: 'default' });
    await harness.say('Go');
    expect(harness.callLog).toEqual([]);
    const behaviors = (await harness.records()).flatMap((record) =>
      record.type === 'call.ruled' ? [record.behavior] : [],
    );
    expect(behaviors).toEqual(['ask', 'deny']);
  });

  test('answered for the session is not asked again for the same call', async () => {
    const surface = scriptedSurface({ behavior: 'allow', scope: 'session' });
    const model = scriptedModel(
      [calls('c1', 'Change', { name: 'a' })],
      [calls('c2', 'Change', { name: 'a' })],
      done,
    );
    const harness = await leadHarness({ model, surface, mode: 'default' });
    await harness.say('Go');
    expect(harness.callLog).toEqual(['start a', 'end a', 'start a', 'end a']);
    expect(harness.keptRules).toEqual([]);
  });

  test('answered for the project writes a rule', async () => {
    const surface = scriptedSurface({ behavior: 'allow', scope: 'project' });
    const model = scriptedModel(
      [calls('c1', 'Change', { name: 'a' })],
      [calls('c2', 'Change', { name: 'a' })],
      done,
    );
    const harness = await leadHarness({ model, surface, mode: 'default' });
    await harness.say('Go');
    expect(harness.callLog).toHaveLength(4);
    expect(harness.keptRules).toHaveLength(1);
  });

  test('answered for the session with another input allows only that input', async () => {
    const surface = scriptedSurface(
      { behavior: 'allow', scope: 'session', updatedInput: { name: 'b' } },
      denies(),
    );
    const model = scriptedModel(
      [calls('c1', 'Change', { name: 'a' })],
      [calls('c2', 'Change', { name: 'b' })],
      [calls('c3', 'Change', { name: 'a' })],
      done,
    );
    const harness = await leadHarness({ model, surface, mode: 'default' });
    await harness.say('Go');
    expect(harness.callLog).toEqual(['start b', 'end b', 'start b', 'end b']);
    expect(surface.questions.map(({ call }) => call)).toEqual(['c1', 'c3']);
  });

  test('may be open while the model still streams and other calls run', async () => {
    const [stream, answer] = [gate(), gate()];
    const surface = scriptedSurface(answer.opened.then(() => allows));
    const model = scriptedModel(
      [
        calls('c1', 'Look', { name: 'a' }),
        calls('c2', 'Change', { name: 'b' }),
        waits(stream.opened),
      ],
      done,
    );
    const harness = await leadHarness({ model, surface, mode: 'default' });
    await harness.say('Go');
    expect(harness.lead.state).toBe('streaming');
    expect(surface.questions).toHaveLength(1);
    expect(harness.callLog).toEqual(['start a', 'end a']);
    answer.open();
    await settled();
    expect(harness.callLog).toEqual(['start a', 'end a']);
    stream.open();
    await harness.lead.stopped;
    expect(harness.callLog.slice(2)).toEqual(['start b', 'end b']);
  });
});
