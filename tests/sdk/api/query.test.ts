import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { UsageError } from '../../../src/protocol/skein-error.js';
import type { SkeinMessage } from '../../../src/sdk/api/messages/skein-message.js';
import type { QueryOptions } from '../../../src/sdk/api/query-options.js';
import { eventually } from '../../fakes/eventually.js';
import { calls, pidIn, type Rules, userLine } from '../../fakes/skein-process.js';
import { allDead } from '../../host/process/processes.js';
import { all, kinds, openSession, program, query, resultOf, toolTexts } from './program.js';

const SLEEP = 'echo $$ > pid; sleep 600';
const allow = () => ({ behavior: 'allow' }) as const;

describe('a query', () => {
  test('yields a run from its first message to its result', async () => {
    const { ask } = await program([
      { match: { turn: 0 }, reply: calls('Bash', { command: 'touch honk && echo honk' }) },
      { match: { turn: 1 }, reply: 'It says honk.' },
    ]);
    const yielded = await all(ask('What does it say?', { allowedTools: ['Bash(touch:*)'] }));
    // The number of progress messages depends on speed.
    const messages = yielded.filter(({ type }) => type !== 'tool_progress');
    expect(kinds(messages)).toEqual([
      'system/init',
      'system/request_started',
      'assistant',
      'tool_call',
      'user',
      'system/request_started',
      'assistant',
      'result',
    ]);
    expect(messages[2]).toMatchObject({
      message: { role: 'assistant', content: [{ type: 'tool_use', name: 'Bash' }] },
    });
    expect(messages[3]).toMatchObject({
      name: 'Bash',
      input: { command: 'touch honk && echo honk' },
    });
    expect(toolTexts(messages)).toEqual(['honk\n']);
    expect(messages[7]).toMatchObject({
      subtype: 'success',
      result: 'It says honk.',
      num_turns: 2,
    });
  });

  test('sends the system prompts of the program in place of the built-in text (P11, P12)', async () => {
    const { ask, bodies } = await program();
    const words = { systemPrompt: 'Be a duck.', appendSystemPrompt: 'Sing.' };
    await all(ask('Hello.', { ...words, overrideSystemPrompt: 'Be a goose.' }));
    await all(ask('Hello.', words));
    const texts = bodies().map(({ system }) =>
      system.map(({ text }: { readonly text: string }) => text).join('\n'),
    );
    expect(texts[0]).toContain('Be a goose.');
    expect(texts[0]).not.toMatch(/Be a duck|Sing|You are Skein|# Environment/);
    expect(texts[1]).toMatch(/Be a duck\.[\s\S]*# Environment[\s\S]*Sing\./);
  });

  test('yields partial messages only with includePartialMessages', async () => {
    const { ask } = await program();
    expect(kinds(await all(ask('hi')))).not.toContain('stream_event');
    const messages = await all(ask('hi', { includePartialMessages: true }));
    const deltas = messages.flatMap((it) =>
      it.type === 'stream_event' && it.event.type === 'content_block_delta' ? [it.event] : [],
    );
    expect(deltas.length).toBeGreaterThan(0);
  });

  test('yields the same message as stream-json prints', async () => {
    const { ask, run } = await program([{ reply: 'Same.' }]);
    const printed = (await run(['-p', 'hi', '--output-format', 'stream-json'])).lines;
    const read = JSON.parse(JSON.stringify(await all(ask('hi'))));
    const bare = (line: Record<string, unknown> | undefined) => {
      const {
        session_id: _s,
        uuid: _u,
        duration_ms: _d,
        duration_api_ms: _a,
        ...rest
      } = line ?? {};
      const { id: _i, usage: _m, ...message } = (rest.message ?? {}) as Record<string, unknown>;
      const { usage: _v, modelUsage: _w, total_cost_usd: _c, version: _n, ...facts } = rest;
      return { ...facts, message };
    };
    const yielded = read.filter(
      ({ subtype }: { subtype?: string }) => subtype !== 'request_started',
    );
    expect(yielded.map(bare)).toEqual(printed.map(bare));
  });

  test.each([false, true])(
    'reports what ends with the session before the result (subprocess: %s)',
    async (subprocess) => {
      const mate = { description: 'm', prompt: 'part-mate', name: 'mate', team_name: 'geese' };
      const { ask } = await program([
        { match: { firstUser: 'part-mate' }, reply: 'MATE-RESTS.' },
        { match: { turn: 0 }, reply: calls('Task', { ...mate, subagent_type: 'explorer' }) },
        {
          match: { turn: 1 },
          reply: calls('Bash', { command: 'sleep 600', run_in_background: true }),
        },
        { reply: 'Done.' },
      ]);
      const seen = await all(ask('go', { permissionMode: 'bypassPermissions', subprocess }));
      const ends = seen.filter((it) => it.type === 'system' && it.subtype === 'task_notification');
      expect(ends.at(-1)).toMatchObject({ name: 'mate', status: 'completed' });
      expect(ends.at(-1)).not.toHaveProperty('is_idle');
      expect(seen).toContainEqual(
        expect.objectContaining({ subtype: 'notice', text: expect.stringContaining('sleep 600') }),
      );
      expect(kinds(seen).filter((kind) => kind === 'result')).toHaveLength(1);
      expect(seen.at(-1)).toMatchObject({ type: 'result', result: expect.any(String) });
    },
  );

  test('never writes to the terminal, not even notices', async () => {
    const { ask } = await program();
    const writes = [process.stdout, process.stderr].map((it) => vi.spyOn(it, 'write'));
    try {
      const settings = { permissions: { allow: ['(broken'] } };
      const messages = await all(ask('hi', { settings }));
      const notices = messages.filter((it) => it.type === 'system' && it.subtype === 'notice');
      expect(notices).toMatchObject([{ text: expect.stringContaining('(broken') }]);
      for (const write of writes) expect(write).not.toHaveBeenCalled();
    } finally {
      for (const write of writes) write.mockRestore();
    }
  });

  test.each([
    ['an empty prompt', ' ', {}, /A prompt is text/],
    ['a misspelt option', 'hi', { alowedTools: ['Read'] }, /alowedTools/],
    ['an invalid limit', 'hi', { maxTurns: -1 }, /"maxTurns"/],
    ['a mode that does not exist', 'hi', { permissionMode: 'yolo' }, /"permissionMode"/],
    ['an invalid signal', 'hi', { signal: {} }, /"signal": must be an AbortSignal/],
    ['a session that does not exist', 'hi', { resume: 'nobody' }, /nobody/],
    ['a schema that is not JSON', 'hi', { jsonSchema: '{' }, /not valid JSON/],
    ['a tool without tool()', 'hi', { tools: [{ name: 'X' }] }, /tool\(\)/],
  ])('rejects %s in one sentence, and sends no request', async (_, prompt, wrong, sentence) => {
    const { ask, simulator } = await program();
    const failed = all(ask(prompt, wrong as QueryOptions));
    await expect(failed).rejects.toThrow(sentence);
    await expect(failed).rejects.toBeInstanceOf(UsageError);
    expect(simulator.requests).toEqual([]);
  });

  test('refuses to start without a prompt, unless a session is resumed', async () => {
    const { options, ask } = await program();
    await expect(all(query({ options }))).rejects.toThrow(/There is no prompt/);
    const { session_id, result } = await resultOf(ask('hi'));
    const again = await resultOf(query({ options: { ...options, resume: session_id } }));
    expect(again).toMatchObject({ result, session_id, num_turns: 0 });
  });

  test('fails without an API key', async () => {
    const { ask, options } = await program();
    const { apiKey: _, ...keyless } = options;
    await expect(all(query({ prompt: 'hi', options: keyless }))).rejects.toThrow(/no API key/);
    await expect(resultOf(ask('hi'))).resolves.toMatchObject({ is_error: false });
  });

  test('returns an answer with a JSON schema as a value', async () => {
    const { ask } = await program([{ reply: '{"birds":7}' }]);
    const jsonSchema = { type: 'object', properties: { birds: { type: 'number' } } };
    const { structured_output } = await resultOf(ask('count', { jsonSchema }));
    expect(structured_output).toEqual({ birds: 7 });
  });

  test('runs independently of another query in the same process', async () => {
    const script = [
      { match: { turn: 0 }, reply: calls('Bash', { command: 'cat name' }) },
      { match: { turn: 1 }, reply: 'It is {{toolResult}}' },
    ];
    const flocks = await Promise.all(
      ['goose', 'swan', 'crane'].map(async (name) => {
        const flock = await program(script);
        await writeFile(join(flock.workspace, 'name'), name);
        return { ...flock, name };
      }),
    );
    const results = await Promise.all(
      flocks.map(({ ask }) => resultOf(ask('Who?', { allowedTools: ['Bash(cat name)'] }))),
    );
    expect(results.map(({ result }) => result)).toEqual(flocks.map(({ name }) => `It is ${name}`));
    for (const { journal, name } of flocks) {
      expect(JSON.stringify(await journal())).toContain(name);
    }
  });
});

describe('an abort', () => {
  test('before the start ends the run as interrupted, and journals the prompt', async () => {
    const { ask, journal, simulator } = await program();
    const messages = await all(ask('hi', { signal: AbortSignal.abort() }));
    expect(messages.at(-1)).toMatchObject({ type: 'result', stop_reason: 'interrupted' });
    expect(simulator.requests).toEqual([]);
    expect((await journal()).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['letter.received', 'run.ended']),
    );
  });

  test('in a stream keeps the text so far', async () => {
    const { ask, journal } = await program([
      { reply: { text: 'One two three four', chunkBytes: 4, stall: { afterEvents: 5 } } },
    ]);
    const controller = new AbortController();
    const options = { signal: controller.signal, includePartialMessages: true };
    let last: unknown;
    for await (const message of ask('count', options)) {
      last = message;
      if (message.type === 'stream_event' && message.event.type === 'content_block_delta') {
        controller.abort();
      }
    }
    expect(last).toMatchObject({ type: 'result', stop_reason: 'interrupted', is_error: true });
    const kept = (await journal()).find(({ type }) => type === 'assistant.received');
    expect(JSON.stringify(kept)).toContain('One');
  });

  test('in a tool ends its processes, and journals the call as interrupted', async () => {
    const { ask, workspace, journal } = await program([
      { reply: calls('Bash', { command: SLEEP }) },
    ]);
    const controller = new AbortController();
    const running = resultOf(ask('sleep', { signal: controller.signal, canUseTool: allow }));
    const pid = await eventually('the command runs', () => pidIn(workspace));
    controller.abort();
    await expect(running).resolves.toMatchObject({ stop_reason: 'interrupted' });
    expect(allDead([pid])).toBe(true);
    expect(await journal()).toContainEqual(
      expect.objectContaining({ type: 'call.ended', outcome: 'interrupted' }),
    );
  });

  test('of a long-lived signal leaves no listeners on it', async () => {
    const { ask } = await program();
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    await resultOf(ask('hi', { signal }));
    expect(removed).toHaveBeenCalledTimes(added.mock.calls.length);
  });

  test('by interrupt() before the first message is not lost', async () => {
    const { ask } = await program();
    const messages = ask('hi');
    messages.interrupt();
    await expect(resultOf(messages)).resolves.toMatchObject({ stop_reason: 'interrupted' });
  });
});

describe('a loop that is left early', () => {
  test('interrupts the run, ends its processes and closes the session', async () => {
    const { ask, workspace, options } = await program([
      { match: { turn: 0 }, reply: calls('Bash', { command: SLEEP }) },
      { reply: 'Awake.' },
    ]);
    const messages = ask('sleep', { canUseTool: allow });
    for await (const { type } of messages) {
      if (type !== 'tool_call') continue;
      await eventually('the command runs', () => pidIn(workspace));
      break;
    }
    expect(allDead([pidIn(workspace) ?? 0])).toBe(true);
    const resume = messages.sessionId ?? '';
    const again = await resultOf(query({ prompt: 'and now?', options: { ...options, resume } }));
    expect(again).toMatchObject({ result: 'Awake.', session_id: resume });
  });

  test('before the first run sends no request', async () => {
    const { ask, simulator } = await program();
    for await (const { type } of ask('hi')) if (type === 'system') break;
    expect(simulator.requests).toEqual([]);
  });

  test('or that never started creates no files', async () => {
    const { ask, skeinHome } = await program();
    await ask('hi').return();
    expect(existsSync(skeinHome)).toBe(false);
  });
});

describe('a series of prompts', () => {
  const script = [
    { match: { turn: 0 }, reply: 'First.' },
    { match: { turn: 1 }, reply: 'Second.' },
  ];

  test('is answered one prompt at a time in one session', async () => {
    const { options, bodies } = await program(script);
    const prompt = (async function* () {
      yield 'one';
      yield [{ type: 'text', text: 'two' } as const];
    })();
    const messages = await all(query({ prompt, options }));
    const results = messages.filter((it) => it.type === 'result');
    expect(results.map(({ result }) => result)).toEqual(['First.', 'Second.']);
    expect(new Set(messages.map(({ session_id }) => session_id)).size).toBe(1);
    expect(bodies()[1]?.messages).toHaveLength(3);
  });

  const task = { description: 'x', prompt: 'part-slow', subagent_type: 'implementer' };
  const background: Rules = [
    {
      match: { firstUser: 'part-slow', turn: 0 },
      reply: calls('Bash', { command: 'touch waits; until [ -e go ]; do sleep 0.05; done' }),
    },
    { match: { firstUser: 'part-slow' }, reply: 'SLOW-REPORT.' },
    { match: { turn: 0 }, reply: calls('Task', { ...task, run_in_background: true }) },
    { match: { lastUser: 'SLOW-REPORT' }, reply: 'It has reported.' },
    { reply: 'It works.' },
  ];

  test.each([false, true])(
    'waits for background agents after its last prompt, and yields the runs of their reports (subprocess: %s)',
    async (subprocess) => {
      const { options, workspace, run } = await program(background);
      const prompt = (async function* () {
        yield 'go';
      })();
      const permissionMode = 'bypassPermissions';
      const seen: SkeinMessage[] = [];
      for await (const message of query({
        prompt,
        options: { ...options, permissionMode, subprocess },
      })) {
        seen.push(message);
        if (message.type === 'result') await writeFile(join(workspace, 'go'), '');
      }
      const results = seen.flatMap((it) => (it.type === 'result' ? [it.result] : []));
      expect(results).toEqual(['It works.', 'It has reported.']);
      expect(kinds(seen).at(-1)).toBe('result');
      expect(kinds(seen).filter((kind) => kind === 'system/init')).toHaveLength(2);
      expect(seen).toContainEqual(
        expect.objectContaining({ subtype: 'task_notification', summary: 'SLOW-REPORT.' }),
      );
      expect(new Set(seen.map(({ uuid }) => uuid)).size).toBe(seen.length);
      const { swarms } = JSON.parse((await run(['ps', '--all', '--json'])).stdout);
      expect(JSON.stringify(swarms)).not.toContain('"lost"');
    },
  );

  /** Gives the second prompt after `count` results. The agent may end after the first result. */
  const betweenPrompts = async (rules: Rules, count: number, subprocess: boolean) => {
    const { options, workspace } = await program(rules);
    const results: string[] = [];
    const prompt = (async function* () {
      yield 'go';
      await writeFile(join(workspace, 'go'), '');
      await eventually('the report has a result', () => results.length === count);
      yield 'and now?';
    })();
    const permissionMode = 'bypassPermissions';
    const messages = query({ prompt, options: { ...options, permissionMode, subprocess } });
    return { messages, results };
  };

  test.each([false, true])(
    'yields the run of a report between two prompts (subprocess: %s)',
    async (subprocess) => {
      const last: Rules = [{ match: { lastUser: 'and now' }, reply: 'All is done.' }];
      const { messages, results } = await betweenPrompts([...last, ...background], 2, subprocess);
      const seen: SkeinMessage[] = [];
      for await (const message of messages) {
        seen.push(message);
        if (message.type === 'result') results.push(message.result);
      }
      expect(results).toEqual(['It works.', 'It has reported.', 'All is done.']);
      expect(kinds(seen).filter((kind) => kind === 'system/init')).toHaveLength(3);
      const isReport = (it: SkeinMessage) =>
        it.type === 'system' && it.subtype === 'task_notification' && it.summary === 'SLOW-REPORT.';
      expect(seen.filter(isReport)).toHaveLength(1);
      expect(new Set(seen.map(({ uuid }) => uuid)).size).toBe(seen.length);
    },
  );

  const isRequestOfLead = (it: SkeinMessage) =>
    it.type === 'system' && it.subtype === 'request_started' && it.parent_tool_use_id === null;

  test.each([false, true])(
    'can interrupt the run of a report between two prompts (subprocess: %s)',
    async (subprocess) => {
      const stall = { text: 'Never', stall: { afterEvents: 3 } };
      const rules: Rules = [
        { match: { lastUser: 'and now' }, reply: 'All is done.' },
        { match: { lastUser: 'SLOW-REPORT' }, reply: stall },
        ...background,
      ];
      const { messages, results } = await betweenPrompts(rules, 2, subprocess);
      for await (const message of messages) {
        if (message.type === 'result') results.push(message.stop_reason);
        if (results.length === 1 && isRequestOfLead(message)) messages.interrupt();
      }
      expect(results).toEqual(['end_turn', 'interrupted', 'end_turn']);
    },
  );

  test.each([false, true])(
    'can be left during the run of a report between two prompts (subprocess: %s)',
    async (subprocess) => {
      const stall = { text: 'Never', stall: { afterEvents: 3 } };
      const rules: Rules = [{ match: { lastUser: 'SLOW-REPORT' }, reply: stall }, ...background];
      const { messages, results } = await betweenPrompts(rules, 2, subprocess);
      for await (const message of messages) {
        if (message.type === 'result') results.push(message.result);
        if (results.length === 1 && isRequestOfLead(message)) break;
      }
      expect(results).toEqual(['It works.']);
      results.push('left');
    },
  );

  test('that is aborted while background agents work ends at once', async () => {
    const { options } = await program(background);
    const controller = new AbortController();
    const prompt = (async function* () {
      yield 'go';
    })();
    const messages = query({
      prompt,
      options: { ...options, permissionMode: 'bypassPermissions', signal: controller.signal },
    });
    const seen: SkeinMessage[] = [];
    for await (const message of messages) {
      seen.push(message);
      if (message.type === 'result') setImmediate(() => controller.abort());
    }
    expect(seen.at(-1)?.type).toBe('result');
    expect(seen.find(({ type }) => type === 'result')).toMatchObject({ result: 'It works.' });
  });

  test('ends if it is aborted while the next prompt is awaited', async () => {
    const { options } = await program(script);
    const controller = new AbortController();
    const prompt = (async function* () {
      yield 'one';
      await new Promise(() => {});
    })();
    const seen: string[] = [];
    for await (const message of query({
      prompt,
      options: { ...options, signal: controller.signal },
    })) {
      seen.push(message.type);
      if (message.type === 'result') setImmediate(() => controller.abort());
    }
    expect(seen.at(-1)).toBe('result');
  });

  test('continues after an interrupted run', async () => {
    const { options } = await program([
      { match: { lastUser: 'one' }, reply: { text: 'Never', stall: { afterEvents: 3 } } },
      { reply: 'Second.' },
    ]);
    const messages = query({
      prompt: (async function* () {
        yield 'one';
        yield 'two';
      })(),
      options: { ...options, includePartialMessages: true },
    });
    const results: string[] = [];
    for await (const message of messages) {
      if (message.type === 'stream_event' && results.length === 0) messages.interrupt();
      if (message.type === 'result') results.push(message.stop_reason);
    }
    expect(results).toEqual(['interrupted', 'end_turn']);
  });

  test('that fails fails the query, and closes the session', async () => {
    const { options } = await program(script);
    const messages = query({
      prompt: (async function* () {
        yield 'one';
        throw new Error('no more geese');
      })(),
      options,
    });
    await expect(all(messages)).rejects.toThrow('no more geese');
    const resume = messages.sessionId ?? '';
    const next = await resultOf(query({ prompt: 'two', options: { ...options, resume } }));
    expect(next.result).toBe('Second.');
  });
});

describe('an open session', () => {
  test('keeps its history, answers one prompt at a time, and can be resumed after it is closed', async () => {
    const { options, bodies, skeinHome } = await program([
      { match: { turn: 0 }, reply: 'First.' },
      { match: { turn: 1 }, reply: 'Second.' },
      { match: { turn: 2 }, reply: 'Third.' },
    ]);
    const session = await openSession(options);
    const first = session.query('The first\nof all');
    await first.next();
    await expect(all(session.query('at the same time'))).rejects.toThrow(/one prompt at a time/);
    expect((await resultOf(first)).result).toBe('First.');
    expect((await resultOf(session.query('two'))).result).toBe('Second.');
    await session.close();
    await session.close();
    const { title } = JSON.parse(
      await readFile(join(skeinHome, 'sessions', session.id, 'session.json'), 'utf8'),
    ) as { title: string };
    expect(title).toBe('The first of all');
    await expect(all(session.query('three'))).rejects.toThrow(/closed/);
    const third = query({ prompt: 'three', options: { ...options, resume: session.id } });
    expect((await resultOf(third)).result).toBe('Third.');
    expect(bodies()).toHaveLength(3);
  });

  test('is owned by one program at a time', async () => {
    const { options } = await program();
    const session = await openSession(options);
    await resultOf(session.query('hi'));
    const second = query({ prompt: 'hi', options: { ...options, resume: session.id } });
    await expect(all(second)).rejects.toThrow(UsageError);
    const copy = { ...options, resume: session.id, forkSession: true };
    expect((await resultOf(query({ prompt: 'hi', options: copy }))).session_id).not.toBe(
      session.id,
    );
    await session.close();
  });

  test('can be used again after a loop is left early', async () => {
    const { options } = await program([
      { match: { lastUser: 'first' }, reply: { text: 'Never', stall: { afterEvents: 3 } } },
      { reply: 'Here.' },
    ]);
    const session = await openSession(options);
    for await (const it of session.query('first')) {
      if (it.type === 'system' && it.subtype === 'request_started') break;
    }
    expect((await resultOf(session.query('second'))).result).toBe('Here.');
    await session.close();
  });

  test('can be closed during a run', async () => {
    const { options, workspace } = await program([{ reply: calls('Bash', { command: SLEEP }) }]);
    const session = await openSession({ ...options, canUseTool: allow });
    const running = resultOf(session.query('sleep'));
    const pid = await eventually('the command runs', () => pidIn(workspace));
    await session.close();
    expect(allDead([pid])).toBe(true);
    await expect(running).resolves.toMatchObject({ stop_reason: 'interrupted' });
  });
});

describe('the runtime', () => {
  const script = [
    { match: { turn: 0 }, reply: calls('Write', { file_path: 'a.txt', content: 'geese' }) },
    { match: { turn: 1 }, reply: calls('Bash', { command: 'cat a.txt' }) },
    { match: { turn: 2 }, reply: 'Written.' },
  ];
  const rules = ['Edit(a.txt)', 'Bash(cat a.txt)'];

  /** Replaces the parts that differ each time: times, ids, paths, and whether the lead stays idle. */
  const bare = (records: readonly object[], root: string) => {
    const ids: string[] = [];
    const text = JSON.stringify(records, (key, value: unknown) =>
      VARYING.has(key) ? undefined : value,
    );
    const named = text.replaceAll(root, '').replaceAll(/toolu_\w+/g, (id) => {
      if (!ids.includes(id)) ids.push(id);
      return `call-${ids.indexOf(id)}`;
    });
    return JSON.parse(named) as unknown[];
  };
  const VARYING = new Set([
    'ts',
    'owner',
    'agent',
    'letter',
    'prompt',
    'durationMs',
    'ttftMs',
    'final',
    'mtimeMs',
    // Digest of a result that contains the path.
    'messageId',
    'requestId',
    'trace',
    // The prompt contains the path and the host, and whether a person can answer.
    'shape',
    'digests',
    'estimatedTokens',
    'usage',
    'cost',
    // Digest of a call's effect, which contains the path too.
    'trace',
  ]);

  test('writes the same journal for print mode, for stream-json input and for a program', async () => {
    const printing = await program(script);
    await printing.run(['-p', 'go', '--allowed-tools', ...rules]);
    const driven = await program(script);
    const flags = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json'];
    const process = driven.start([...flags, '--allowed-tools', ...rules]);
    process.say(userLine('go'));
    process.endInput();
    await process.ended;
    const asking = await program(script);
    await resultOf(asking.ask('go', { allowedTools: rules }));
    const [printed, drove, asked] = await Promise.all(
      [printing, driven, asking].map(async ({ journal, root }) => bare(await journal(), root)),
    );
    expect(asked?.length).toBeGreaterThan(15);
    expect(asked).toEqual(printed);
    expect(asked).toEqual(drove);
    expect(await readFile(join(asking.workspace, 'a.txt'), 'utf8')).toBe('geese');
  });
});
