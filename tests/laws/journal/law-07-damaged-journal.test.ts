/** Damages the files of a session at random, and resumes it. */
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { LeadSession } from '../../../src/actors/session/lead-session.js';
import { systemClock } from '../../../src/protocol/clock.js';
import { randomIds } from '../../../src/protocol/ids.js';
import type { ModelPort } from '../../../src/protocol/model/model-port.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import type { WireBlock } from '../../../src/protocol/model/wire-block.js';
import { defineTool } from '../../../src/protocol/tools/tool.js';
import { IS_WIDE } from '../../setup/wide.js';
import { sessionFiles } from '../../store/session-folder.js';
import { finish, openRig, type ScriptedTurn, speaks } from '../session-rig.js';

interface Message {
  readonly role: string;
  readonly content: readonly WireBlock[];
}

/** Ids of the calls that had an effect, in order. */
const effects: string[] = [];

const tool = (name: string, isReadOnly: boolean) =>
  defineTool({
    name,
    kind: 'builtin',
    prompt: name,
    input: z.strictObject({}),
    describe: () => name,
    isReadOnly: () => isReadOnly,
    isConcurrencySafe: () => true,
    subject: () => ({ action: 'none', target: '' }),
    interruptBehavior: 'cancel',
    async call(_, { call }) {
      if (!isReadOnly) effects.push(call);
      return { content: `${name} is done.` };
    },
  });

const TOOLS = [tool('Act', false), tool('Look', true)];

/** A model that ends every turn, and keeps the bodies of its requests. */
const listener = () => {
  const bodies: string[] = [];
  const model: ModelPort = {
    async stream(request, sink) {
      bodies.push(Buffer.concat([...request.body]).toString());
      sink.started();
      sink.blockEnded({ type: 'text', raw: '{"type":"text","text":"Fine."}' });
      const usage = { ...NO_USAGE, input: 100, output: 10 };
      return {
        messageId: 'm',
        requestId: null,
        stopReason: 'end_turn',
        usage,
        model: request.model,
      };
    },
  };
  return { model, bodies };
};

/** Returns the messages without cache breakpoints. */
const messagesOf = (body: string) =>
  (
    JSON.parse(body, (key, value: unknown) => (key === 'cache_control' ? undefined : value)) as {
      messages: Message[];
    }
  ).messages;

/** Returns why the Messages API would refuse the messages. */
const refusalOf = (messages: readonly Message[]): string | undefined => {
  if (messages[0]?.role !== 'user') return 'it starts with an answer';
  let open: readonly unknown[] = [];
  for (const [at, { role, content }] of messages.entries()) {
    if (role === messages[at - 1]?.role) return `message ${at} repeats the role ${role}`;
    if (content.length === 0) return `message ${at} is empty`;
    const results = content.flatMap((block) =>
      block.type === 'tool_result' ? [block.tool_use_id] : [],
    );
    const isFirst = content.slice(0, results.length).every(({ type }) => type === 'tool_result');
    if (!isFirst || JSON.stringify(results) !== JSON.stringify(open))
      return `message ${at} has the results ${results.join()} for the calls ${open.join()}`;
    open = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  }
  return open.length === 0 ? undefined : 'the last calls have no results';
};

const calls = (...ids: readonly string[]): ScriptedTurn => ({
  text: 'I work.',
  calls: ids.map((id) => ({ id, tool: id.startsWith('act') ? 'Act' : 'Look', input: {} })),
});

const PROMPTS: readonly (readonly ScriptedTurn[])[] = [
  [calls('act1', 'look1'), { text: 'One.' }],
  [calls('look2', 'act2'), calls('act3'), { text: 'Two.' }],
  [calls('act4', 'act5', 'look3'), { text: 'Three.' }],
];

const root = fs.mkdtempSync(join(tmpdir(), 'damaged-'));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
const ID = 's_law';
const storeAt = () => sessionFiles(root, { clock: systemClock });
const options = { ids: randomIds };
const rig = { tools: TOOLS, mode: 'bypassPermissions', options, staysIdle: true } as const;
const folder = join(root, ID);
let journal = '';
/** Files of the undamaged session by path. */
const files = new Map<string, Buffer>();

beforeAll(async () => {
  const session = await openRig({
    ...rig,
    model: speaks(PROMPTS.flat()),
    store: storeAt(),
    choice: { kind: 'new', id: ID },
  });
  for (const [at] of PROMPTS.entries()) await finish(session, `prompt ${at + 1}`);
  await session.close();
  journal = join(folder, 'agents', `${session.meta.lead}.jsonl`);
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(path, fs.readFileSync(path));
  }
});

const reset = () => {
  fs.rmSync(folder, { recursive: true, force: true });
  for (const [path, bytes] of files) {
    fs.mkdirSync(join(path, '..'), { recursive: true });
    fs.writeFileSync(path, bytes);
  }
  effects.length = 0;
};

const resume = async (choice: 'resume' | 'fork' = 'resume') => {
  const { model, bodies } = listener();
  const session: LeadSession = await openRig({
    ...rig,
    model,
    store: storeAt(),
    choice: choice === 'resume' ? { kind: 'resume', id: ID } : { kind: 'fork', from: ID },
  });
  try {
    await finish(session, 'go on');
    return { bodies, damage: [...session.damage] };
  } finally {
    await session.close();
  }
};

type Damage = (bytes: Buffer) => Buffer;

const onLines =
  (change: (lines: string[]) => readonly string[]): Damage =>
  (bytes) => {
    const lines = bytes.toString().split('\n').slice(0, -1);
    const changed = lines.length === 0 ? lines : change(lines);
    return Buffer.from(changed.map((line) => `${line}\n`).join(''));
  };

const pick = (lines: readonly string[], at: number) => Math.floor(at * lines.length);
const place = fc.double({ min: 0, max: 0.999, noNaN: true });

/** Damage that must be named, because a number or a line shows it. */
const visibleDamage: fc.Arbitrary<readonly [string, Damage]> = fc.oneof(
  place.map(
    (at) =>
      [
        `cut at ${at}`,
        (bytes: Buffer) => bytes.subarray(0, Math.floor(at * bytes.length)),
      ] as const,
  ),
  fc.constant(['emptied', () => Buffer.alloc(0)] as const),
  place.map(
    (at) =>
      [`line ${at} deleted`, onLines((lines) => lines.toSpliced(pick(lines, at), 1))] as const,
  ),
  fc
    .tuple(place, fc.integer({ min: 2, max: 9 }))
    .map(
      ([at, count]) =>
        [
          `${count} lines from ${at} deleted`,
          onLines((lines) => lines.toSpliced(pick(lines, at), count)),
        ] as const,
    ),
  place.map(
    (at) =>
      [
        `line ${at} repeated`,
        onLines((lines) => lines.toSpliced(pick(lines, at), 0, lines[pick(lines, at)] ?? '')),
      ] as const,
  ),
  fc
    .tuple(place, place)
    .filter(([a, b]) => Math.abs(a - b) > 0.1)
    .map(
      ([a, b]) =>
        [
          `lines ${a} and ${b} swapped`,
          onLines((lines) =>
            lines
              .with(pick(lines, a), lines[pick(lines, b)] ?? '')
              .with(pick(lines, b), lines[pick(lines, a)] ?? ''),
          ),
        ] as const,
    ),
  fc
    .tuple(place, fc.constantFrom('garbage{', '', '{"v":1}', '\0\0\0\0', 'null', '[]'))
    .map(
      ([at, text]) =>
        [
          `${JSON.stringify(text)} inserted at ${at}`,
          onLines((lines) => lines.toSpliced(pick(lines, at), 0, text)),
        ] as const,
    ),
  fc
    .tuple(place, fc.constantFrom('garbage{', '{"v":1,"seq":3}'))
    .map(
      ([at, text]) =>
        [
          `line ${at} overwritten by ${text}`,
          onLines((lines) => lines.with(pick(lines, at), text)),
        ] as const,
    ),
  fc.tuple(place, fc.integer({ min: 1, max: 60 })).map(
    ([at, seq]) =>
      [
        `line ${at} numbered ${seq}`,
        onLines((lines) => {
          const line = lines[pick(lines, at)] ?? '';
          const changed = line.replace(/"seq":\d+/, `"seq":${seq}`);
          return changed === line
            ? lines.toSpliced(pick(lines, at), 1)
            : lines.with(pick(lines, at), changed);
        }),
      ] as const,
  ),
);

/**
 * Adds bytes that JSON does not allow. Other bytes can leave a well-formed record with another value,
 * such as the name of a missing prompt, and such a session is refused.
 */
const anyDamage: fc.Arbitrary<readonly [string, Damage]> = fc.oneof(
  { weight: 3, arbitrary: visibleDamage },
  {
    weight: 2,
    arbitrary: fc.tuple(place, fc.uint8Array({ minLength: 1, maxLength: 40, max: 8 })).map(
      ([at, bytes]) =>
        [
          `bytes at ${at} overwritten`,
          (whole: Buffer) => {
            const damaged = Buffer.from(whole);
            damaged.set(
              bytes.subarray(0, whole.length),
              Math.floor(at * Math.max(0, whole.length - bytes.length)),
            );
            return damaged;
          },
        ] as const,
    ),
  },
);

/** True if the journal is the start of the undamaged journal. */
const isCutAtEnd = (text: string) => {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return (files.get(journal) ?? '').toString().startsWith(whole);
};

const RUNS = IS_WIDE ? 1_000 : 40;

const expectUsable = (bodies: readonly string[]) => {
  expect(bodies.length).toBeGreaterThan(0);
  expect(bodies.map((body) => refusalOf(messagesOf(body)))).toEqual(bodies.map(() => undefined));
  expect(effects).toEqual([]);
};

describe('law 7, a damaged journal', () => {
  test('without damage resumes with the same bytes and no notice', async () => {
    reset();
    const first = await resume();
    reset();
    const second = await resume();
    expect(first.damage).toEqual([]);
    expect(second.bodies).toEqual(first.bodies);
    expectUsable(first.bodies);
  });

  test('is named with file and line, and the session is usable and repairs it once', async () => {
    await fc.assert(
      fc.asyncProperty(visibleDamage, async ([, damage]) => {
        reset();
        const before = damage(fs.readFileSync(journal));
        fs.writeFileSync(journal, before);
        const first = await resume();
        expect(first.damage).not.toEqual([]);
        for (const sentence of first.damage) expect(sentence).toMatch(/\.jsonl:\d+/);
        expectUsable(first.bodies);
        const again = await resume();
        expect(again.damage).toEqual([]);
        expectUsable(again.bodies);
        const [last, next] = [first.bodies.at(-1), again.bodies[0]].map((body) =>
          messagesOf(body ?? ''),
        );
        expect(JSON.stringify(next?.slice(0, (last?.length ?? 0) - 1))).toBe(
          JSON.stringify(last?.slice(0, -1)),
        );
      }),
      { numRuns: RUNS },
    );
  }, 600_000);

  test('in several places, or with overwritten bytes, never makes the session unusable', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyDamage, { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (all, isIndexToo) => {
          reset();
          for (const [, damage] of all) fs.writeFileSync(journal, damage(fs.readFileSync(journal)));
          const events = join(folder, 'events.jsonl');
          const last = all.at(-1)?.[1];
          if (isIndexToo && last !== undefined)
            fs.writeFileSync(events, last(fs.readFileSync(events)));
          expectUsable((await resume()).bodies);
          expectUsable((await resume()).bodies);
        },
      ),
      { numRuns: RUNS },
    );
  }, 600_000);

  test('makes a usable fork of the session, which names the damage', async () => {
    await fc.assert(
      fc.asyncProperty(visibleDamage, async ([, damage]) => {
        reset();
        fs.writeFileSync(journal, damage(fs.readFileSync(journal)));
        // A reader without the lease cannot see that the end is missing.
        const isIndexNeeded = isCutAtEnd(fs.readFileSync(journal, 'utf8'));
        const { bodies, damage: named } = await resume('fork');
        if (isIndexNeeded) return;
        expectUsable(bodies);
        expect(named).not.toEqual([]);
      }),
      { numRuns: RUNS / 5 },
    );
  }, 600_000);
});
