/** Injects every kind of cache miss, by its real means if possible, and checks the recorded cause. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { capabilitiesOf } from '../../../src/protocol/model/providers.js';
import { setScene } from '../../fakes/skein-process.js';
import {
  type BreakRecord,
  headOf,
  PLACE,
  type ProcessOptions,
  watchSession,
} from '../screens/watched-session.js';

type WatchedSession = Awaited<ReturnType<typeof watchSession>>;

/** Changes a session between its second and its third prompt. */
type Injection = (scene: WatchedSession) => Promise<ProcessOptions | undefined>;

type ExpectedBreak = Pick<
  BreakRecord,
  'cause' | 'owner' | 'change' | 'byte' | 'expected' | 'diagnosis'
>;

const RULES = [{ match: { lastUser: 'write now' }, reply: 'It flew.' }, { reply: 'Honk.' }];

/** Injects a change into a session and returns its only cache miss. */
const breakAfter = async (inject: Injection, prompts = 2) => {
  const scene = await watchSession(RULES);
  await scene.runPrompts(prompts);
  expect(await scene.breaks()).toEqual([]);
  const changed = await inject(scene);
  await scene.runPrompts(1, changed);
  // The changed prompt is the new reference: the same break is not reported twice.
  await scene.runPrompts(1, { ...changed, beforeLastPrompt: undefined });
  const breaks = await scene.breaks();
  expect(breaks).toHaveLength(1);
  const [broken] = breaks as [BreakRecord];
  expect(broken.cachedTokens - broken.readTokens).toBeGreaterThan(2_000);
  expect(scene.notices).toHaveLength(broken.expected ? 0 : 1);
  const { cause, owner, change, byte, expected, diagnosis } = broken;
  return { cause, owner, change, byte, expected, diagnosis };
};

const settings = (more: object): ProcessOptions => ({
  options: { requestSettings: () => ({ maxTokens: 1_000, ...more }) },
});

const MINUTE = 60_000;
const changed = { change: 'changed', expected: false } as const;
const declared = { change: 'changed', expected: true } as const;
const unchanged = { change: undefined, byte: null, expected: false } as const;

describe('a cache miss between two processes is attributed to', () => {
  test.each<[string, Injection, ExpectedBreak]>([
    [
      'a static section that changed on disk',
      async ({ editHead }) => {
        await editHead(({ system }) => {
          for (const block of system.slice(0, 1)) block.text = block.text.replace('goose', 'duck!');
        });
        return undefined;
      },
      {
        ...changed,
        cause: 'system',
        owner: 'section intro',
        byte: null,
        diagnosis: 'system_changed',
      },
    ],
    [
      'a dynamic section that changed',
      async () => ({
        context: {
          mayChange: true,
          head: async () => headOf({ place: `You walk${PLACE.slice(8)}` }),
        },
      }),
      {
        ...declared,
        cause: 'section',
        owner: 'section env info',
        byte: 'You '.length,
        diagnosis: 'system_changed',
      },
    ],
    [
      'a changed tool description',
      async ({ editHead }) => {
        await editHead(({ tools }) => {
          for (const tool of tools.slice(1, 2)) tool.description += '!';
        });
        return undefined;
      },
      { ...changed, cause: 'tools', owner: 'tool Grep', byte: null, diagnosis: 'tools_changed' },
    ],
    [
      'an added tool',
      async ({ editHead }) => {
        await editHead(({ tools }) => {
          const [tool] = tools;
          if (tool !== undefined) tools.unshift({ ...tool, name: 'Dive' });
        });
        return undefined;
      },
      {
        change: 'added',
        expected: false,
        cause: 'tools',
        owner: 'tool Dive',
        byte: 0,
        diagnosis: 'tools_changed',
      },
    ],
    [
      'a removed tool',
      async ({ editHead }) => {
        await editHead(({ tools }) => void tools.shift());
        return undefined;
      },
      {
        change: 'removed',
        expected: false,
        cause: 'tools',
        owner: 'tool Edit',
        byte: 0,
        diagnosis: 'tools_changed',
      },
    ],
    [
      'a changed order of tools',
      async ({ editHead }) => {
        await editHead(({ tools }) => void tools.reverse());
        return undefined;
      },
      {
        change: 'moved',
        expected: false,
        cause: 'tools',
        owner: 'tool Read',
        byte: 0,
        diagnosis: 'tools_changed',
      },
    ],
    [
      'a changed model',
      async () => ({ options: { modelName: 'claude-opus-5-5' } }),
      {
        ...declared,
        cause: 'model',
        byte: 'claude-'.length,
        owner: 'model claude-sonnet-5-5 → claude-opus-5-5',
        diagnosis: 'model_changed',
      },
    ],
    [
      'changed beta features',
      async () => ({ options: { betas: ['gliding-2026-11-01'] } }),
      {
        ...changed,
        cause: 'betas',
        owner: 'betas none → gliding-2026-11-01',
        byte: 0,
        diagnosis: 'tools_changed',
      },
    ],
    [
      'a changed effort',
      async () => settings({ outputConfig: '{"effort":"low"}' }),
      {
        ...changed,
        cause: 'effort',
        owner: 'effort none → low',
        byte: 0,
        diagnosis: 'messages_changed',
      },
    ],
    [
      'a changed thinking setting',
      async () => settings({ thinking: '{"type":"adaptive"}' }),
      {
        ...changed,
        cause: 'thinking',
        owner: 'thinking none → {"type":"adaptive"}',
        byte: 0,
        diagnosis: 'messages_changed',
      },
    ],
    [
      'a changed answer format',
      async () => settings({ outputConfig: '{"format":{"type":"json_schema"}}' }),
      {
        ...changed,
        cause: 'settings',
        byte: 0,
        diagnosis: 'messages_changed',
        owner: 'answer format none → {"format":{"type":"json_schema"}}',
      },
    ],
    [
      'removed cache breakpoints',
      async () => ({
        options: { capabilities: { ...capabilitiesOf('firstParty'), marks: false } },
      }),
      { ...changed, cause: 'marks', owner: 'ttl 5m → none', byte: null, diagnosis: null },
    ],
    [
      'a message that was rewritten in the journal',
      async ({ editJournal }) => {
        await editJournal((text) => text.replace('Fly on.', 'Fly off'));
        return undefined;
      },
      {
        ...changed,
        cause: 'messages',
        owner: 'message 1',
        byte: null,
        diagnosis: 'messages_changed',
      },
    ],
    [
      'a cleared conversation',
      async () => ({ beforeLastPrompt: (session) => session.clear() }),
      { ...declared, cause: 'clear', owner: 'messages', byte: null, diagnosis: 'messages_changed' },
    ],
    [
      'an expired cache',
      async ({ clock }) => {
        await clock.advance(5 * MINUTE + 1);
        return undefined;
      },
      { ...unchanged, cause: 'expired', owner: 'time', diagnosis: null },
    ],
    [
      'a server without the cached prompt',
      async ({ serve }) => ({ simulator: await serve() }),
      { ...unchanged, cause: 'server', owner: 'server', diagnosis: 'previous_message_not_found' },
    ],
  ])('%s', async (_, inject, expectedBreak) => {
    expect(await breakAfter(inject)).toEqual(expectedBreak);
  });
});

describe('a cache miss within a process is attributed to', () => {
  const breakDuring = async (given: ProcessOptions, prompts = 3) => {
    const scene = await watchSession(RULES);
    await scene.runPrompts(prompts, given);
    const breaks = await scene.breaks();
    expect(breaks).toHaveLength(1);
    return { broken: breaks[0] as BreakRecord, scene };
  };

  test('a rewound conversation', async () => {
    const scene = await watchSession();
    await scene.runPrompts(5);
    const records = await scene.records();
    const second = records.filter(({ type }) => type === 'letter.received')[1];
    const last = records.at(-1);
    const rewound = {
      v: 1,
      seq: (last?.seq ?? 0) + 1,
      ts: last?.ts,
      epoch: last?.epoch,
      type: 'session.rewound',
      to: (second?.seq ?? 0) - 1,
      conversation: true,
      changes: [],
    };
    await scene.editJournal((text) => `${text}${JSON.stringify(rewound)}\n`);
    await scene.runPrompts(1);
    const [broken] = await scene.breaks();
    expect(broken).toMatchObject({ cause: 'rewind', owner: 'messages', expected: true });
    expect(scene.notices).toEqual([]);
  });

  test('the first changed byte of a section', async () => {
    let place = PLACE;
    const { broken, scene } = await breakDuring({
      context: { mayChange: true, head: async () => headOf({ place }) },
      beforeLastPrompt: () => {
        place = `You fly over Ždír${PLACE.slice(17)}`;
      },
    });
    const byte = Buffer.byteLength('You fly over Ž');
    expect(broken).toMatchObject({
      ...declared,
      cause: 'section',
      owner: 'section env info',
      byte,
    });
    expect(scene.notices).toEqual([]);
  });

  test('the first changed byte of a rewritten message', async () => {
    const { broken, scene } = await breakDuring({
      beforeLastPrompt: ({ journal: { history } }) => {
        const [first] = history.messages;
        if (first === undefined) throw new Error('there is a first message');
        const bytes = Buffer.from(first.bytes.toString().replace('Fly on.', 'Fly ön.'));
        history.messages[0] = { ...first, bytes };
      },
    });
    const byte = '{"role":"user","content":[{"type":"text","text":"Fly '.length;
    expect(broken).toMatchObject({ ...changed, cause: 'messages', owner: 'message 1', byte });
    expect(scene.notices).toEqual([
      expect.stringMatching(
        `^The prompt cache broke: \\d+ of \\d+ cached tokens were not read again. Message 1 has changed at its byte ${byte}. The server says: messages_changed.$`,
      ),
    ]);
  });

  test('a summary', async () => {
    const { broken, scene } = await breakDuring(
      { beforeLastPrompt: (session) => session.compact('') },
      10,
    );
    const byte = '{"role":"user","content":[{"type":"text","text":"'.length;
    expect(broken).toMatchObject({ ...declared, cause: 'compaction', owner: 'messages', byte });
    expect(scene.notices).toEqual([]);
  });

  test('dropped oldest messages', async () => {
    const tooLong = { status: 400, message: 'prompt is too long: 201000 tokens > 200000 maximum' };
    const scene = await watchSession([
      { match: { lastUser: 'write now' }, reply: { error: { status: 500 } } },
      { match: { turn: 9 }, reply: { error: tooLong } },
      { reply: 'Honk.' },
    ]);
    await scene.runPrompts(10);
    expect(await scene.breaks()).toMatchObject([
      { ...declared, cause: 'truncation', owner: 'messages', byte: expect.any(Number) as number },
    ]);
  });
});

describe('a message that was rewritten once', () => {
  test('is not named as the cause of a later cache miss', async () => {
    const scene = await watchSession(RULES);
    await scene.runPrompts(2);
    await scene.editJournal((text) => text.replace('Fly on.', 'Fly off'));
    await scene.runPrompts(2);
    await scene.runPrompts(1, { simulator: await scene.serve() });
    const causes = (await scene.breaks()).map((record) => (record as BreakRecord).cause);
    expect(causes).toEqual(['messages', 'server']);
  });
});

describe('a session of a version without request.shaped records', () => {
  test('resumes without a false break, and a later miss has a cause', async () => {
    const scene = await watchSession();
    await scene.runPrompts(2);
    await scene.editJournal((text) =>
      text
        .split('\n')
        .filter((line) => !line.includes('"type":"request.shaped"'))
        .map((line) => line.replace(/,"sent":\{[^}]*\}/, ''))
        .join('\n'),
    );
    await scene.runPrompts(1);
    expect(await scene.breaks()).toEqual([]);
    await scene.clock.advance(5 * MINUTE + 1);
    await scene.runPrompts(1);
    expect(await scene.breaks()).toMatchObject([{ cause: 'expired' }]);
  });
});

describe('an unchanged session', () => {
  test('records no cache miss and a single shape, in a process and after resumes', async () => {
    const scene = await watchSession();
    await scene.runPrompts(3);
    for (let resumes = 0; resumes < 3; resumes += 1) {
      await scene.clock.advance(4 * MINUTE);
      await scene.runPrompts(1);
    }
    const records = await scene.records();
    expect(records.filter(({ type }) => type === 'assistant.received')).toHaveLength(6);
    expect(records.filter(({ type }) => type === 'request.shaped')).toHaveLength(1);
    expect(await scene.breaks()).toEqual([]);
    expect(scene.notices).toEqual([]);
  });
});

/** A prompt that is long enough to be cached. */
const LONG = 'Fly on. '.repeat(2_000);

/** A proxy to the simulator that rejects the field `diagnostics`, as an older server does. */
const startOlderServer = async (url: string) => {
  const refused: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => void answer(Buffer.concat(chunks)));
    const answer = async (body: Buffer) => {
      if (body.includes('"diagnostics"')) {
        refused.push(body.toString());
        const message = 'diagnostics: Extra inputs are not permitted';
        const error = { type: 'error', error: { type: 'invalid_request_error', message } };
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify(error));
        return;
      }
      const headers = { 'x-api-key': 'any', 'anthropic-version': '2023-06-01' };
      const real = await fetch(url + (request.url ?? ''), { method: 'POST', headers, body });
      response.writeHead(real.status, { 'content-type': real.headers.get('content-type') ?? '' });
      response.end(await real.text());
    };
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, refused };
};

describe('a print run', () => {
  test('prints the cause of a cache miss in a single line, and `logs` and `cost` show it', async () => {
    const { run, journal } = await setScene();
    const session = ['--session-id', 'flight'];
    const resume = ['--resume', 'flight'];
    expect(await run(['-p', LONG, ...session])).toMatchObject({ code: 0, stderr: '' });
    expect(await run(['-p', 'On.', ...resume])).toMatchObject({ code: 0, stderr: '' });
    const { stderr } = await run(['-p', 'On.', ...resume, '--effort', 'low']);
    expect(stderr).toMatch(
      /^[^\n]*The prompt cache broke: \d+ of \d+ cached tokens were not read again\. The request changed: effort none → low\. The server says: messages_changed\.\n$/,
    );
    expect(await run(['-p', 'On.', ...resume, '--effort', 'low'])).toMatchObject({ stderr: '' });
    expect((await journal('flight')).filter(({ type }) => type === 'cache.broken')).toHaveLength(1);
    expect((await run(['logs', 'flight'])).stdout).toContain(
      'by accident (effort, effort none → low)',
    );
    expect((await run(['cost', 'flight'])).stdout).toContain('effort none → low');
  });

  test('works with a server that rejects cache diagnostics', async () => {
    const { run, simulator, journal } = await setScene();
    const { url, refused } = await startOlderServer(simulator.url);
    const env = { ANTHROPIC_BASE_URL: url };
    expect(await run(['-p', 'Fly.', '--session-id', 'flight'], { env })).toMatchObject({
      code: 0,
      stdout: 'Done.\n',
      stderr: '',
    });
    const next = await run(['-p', 'Fly on.', '--resume', 'flight'], { env });
    expect(next).toMatchObject({ code: 0, stdout: 'Done.\n', stderr: '' });
    expect(refused).toHaveLength(1);
    const types = (await journal('flight')).map(({ type }) => type);
    expect(types.filter((type) => type === 'turn.started')).toHaveLength(2);
    expect(types).not.toContain('turn.failed');
  });
});
