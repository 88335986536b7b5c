/** Damages the files of a session at random, and resumes it. */
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { LeadSession } from '../../../src/actors/session/lead-session.js';
import { systemClock } from '../../../src/protocol/clock.js';
import { randomIds } from '../../../src/protocol/ids.js';
import type { ModelPort } from '../../../src/protocol/model/model-port.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import { defineTool } from '../../../src/protocol/tools/tool.js';
import { randomSeed } from '../../setup/random-seed.js';
import { IS_WIDE } from '../../setup/wide.js';
import { sessionFiles } from '../../store/session-folder.js';
import {
  anyDamage,
  forgottenCalls,
  messagesOf,
  refusalOf,
  visibleDamage,
} from '../journal-damage.js';
import { finish, openRig, type ScriptedTurn, speaks } from '../session-rig.js';

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

const calls = (...ids: readonly string[]): ScriptedTurn => ({
  text: 'I work.',
  calls: ids.map((id) => ({ id, tool: isAct(id) ? 'Act' : 'Look', input: {} })),
});

const isAct = (call: string) => call.startsWith('act');

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
const events = join(folder, 'events.jsonl');
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

/** True if the journal is the start of the undamaged journal. */
const isCutAtEnd = (text: string) => {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return (files.get(journal) ?? '').toString().startsWith(whole);
};

const forgotten = () => {
  const [text = '', index = ''] = [journal, events].map((path) => fs.readFileSync(path, 'utf8'));
  const agent = basename(journal, '.jsonl');
  return forgottenCalls({
    text,
    index,
    agent,
    written: files.get(journal)?.toString() ?? '',
    isOnly: true,
  });
};

const RUNS = IS_WIDE ? 1_000 : 40;

/** Calls that no file knows as started may run. */
const expectUsable = (bodies: readonly string[], lost: readonly string[] = []) => {
  expect(bodies.length).toBeGreaterThan(0);
  expect(bodies.map((body) => refusalOf(messagesOf(body)))).toEqual(bodies.map(() => undefined));
  expect(effects.filter((call) => !lost.includes(call))).toEqual([]);
  expect(effects).toEqual([...new Set(effects)]);
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

  test('that is cut with its event index is noticed if either file shows a later record', async () => {
    const [records = [], shown = []] = [journal, events].map((path) =>
      (files.get(path) ?? '').toString().split('\n').slice(0, -1),
    );
    const upTo = (lines: readonly string[], count: number, more: number) => {
      const whole = lines.slice(0, count).map((line) => `${line}\n`);
      return whole.join('') + (lines[count] ?? '').slice(0, more);
    };
    for (let count = 1; count < records.length; count += 1) {
      if (!IS_WIDE && count % 3 !== randomSeed % 3) continue;
      for (const more of [1, 30, 90, 150]) {
        const torn = [upTo(records, count, more), upTo(shown, count, 0)];
        const indexed = [upTo(records, count, 0), upTo(shown, count, more)];
        for (const [text = '', index = ''] of [torn, indexed]) {
          reset();
          fs.writeFileSync(journal, text);
          fs.writeFileSync(events, index);
          const { bodies, damage } = await resume();
          expect(damage).toEqual([expect.stringContaining(`record ${count + 1} is missing`)]);
          expectUsable(bodies);
        }
      }
      reset();
      fs.writeFileSync(journal, upTo(records, count, 0));
      fs.writeFileSync(events, upTo(shown, count, 0));
      const lost = forgotten();
      const { bodies, damage } = await resume();
      expectUsable(bodies, lost);
      expect(effects).toEqual(damage.length === 0 ? lost.filter(isAct) : []);
    }
  }, 600_000);

  test('in several places, or with overwritten bytes, never makes the session unusable', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyDamage, { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (all, isIndexToo) => {
          reset();
          for (const [, damage] of all) fs.writeFileSync(journal, damage(fs.readFileSync(journal)));
          const last = all.at(-1)?.[1];
          if (isIndexToo && last !== undefined)
            fs.writeFileSync(events, last(fs.readFileSync(events)));
          const lost = forgotten();
          expectUsable((await resume()).bodies, lost);
          expectUsable((await resume()).bodies, lost);
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
