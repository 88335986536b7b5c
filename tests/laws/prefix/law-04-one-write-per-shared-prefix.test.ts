/** Law 4 on the wire: what siblings share is written to the cache once, and read by all the others. */
import { describe, expect, test } from 'vitest';
import type { MessagesRequest } from '../../../src/simulator/messages-request.js';
import { prefixBlocks } from '../../../src/simulator/prefix-blocks.js';
import type { RequestRecord } from '../../../src/simulator/request-log.js';
import type { Reply, Rules } from '../../fakes/skein-process.js';
import { bodyOf, gateClock, lastTexts, swarmWire, tasks, turnsIn } from '../swarm-wire.js';

/** About 2,000 tokens that everybody is told. */
const INSTRUCTIONS = { 'CLAUDE.md': 'Geese fly south in autumn.\n'.repeat(300) };
/** What forks of a message share with nobody yet: about 1,000 tokens. */
const LONG = 'They fly in a wedge. '.repeat(200);

/** Tokens that everybody begins with, at least: tools and system. */
const HEAD = 5_000;

const EXPLORER = { subagent_type: 'explorer' };
const FORKS = {};
/** A server that takes its time: whoever does not wait for a write comes too early to read it. */
const SLOW: Reply = { text: 'This part is done.', delayMs: 40 };

const isStart = (request: RequestRecord): boolean => lastTexts(request).includes('Do part');

interface Booked {
  /** Tokens ahead of the sibling's own words. */
  readonly shared: number;
  readonly read: number;
  /** All that is in the cache once its answer has started. */
  readonly left: number;
}

const bookedOf = (request: RequestRecord): Booked => {
  const { usage, headers } = request;
  const betas = headers['anthropic-beta'];
  const blocks = prefixBlocks(bodyOf(request) as MessagesRequest, betas?.toString());
  const { cacheRead: read = 0, cacheWrite5m = 0, cacheWrite1h = 0 } = usage ?? {};
  return { shared: blocks.at(-2)?.end ?? 0, read, left: read + cacheWrite5m + cacheWrite1h };
};

/** How many siblings wrote what they share, read it, or paid for it in full. */
const books = (starts: readonly RequestRecord[]) => {
  const booked = starts.filter(({ usage }) => usage !== undefined).map(bookedOf);
  const count = (fits: (it: Booked) => boolean) => booked.filter(fits).length;
  return {
    writes: count(({ read, left, shared }) => read < shared && left >= shared),
    reads: count(({ read, shared }) => read >= shared),
    paid: count(({ left, shared }) => left < shared),
  };
};

/** A lead that starts siblings in one message, and how each of them is answered. */
const fanOut = (count: number, kind: Record<string, unknown>, reply: Reply = SLOW): Rules => [
  { match: { lastUser: 'Do part' }, reply },
  { match: { turn: 0 }, reply: { text: LONG, tool_use: tasks(count, kind) } },
  { reply: 'All done.' },
];

/** Five forks, of which the first has an accident. */
const withAccident = (accident: Reply): Rules => [
  { match: { lastUser: 'Do part' }, replies: [accident, SLOW] },
  { match: { turn: 0 }, reply: { text: LONG, tool_use: tasks(5, FORKS) } },
  { reply: 'All done.' },
];

const KINDS = [
  ['forks', FORKS],
  ['typed agents', EXPLORER],
] as const;
const WIDTHS = [2, 10, 100];

describe('law 4, one write per shared prefix', () => {
  test.each(KINDS.flatMap(([who, kind]) => WIDTHS.map((count) => [count, who, kind] as const)))(
    '%i %s write it once and read it otherwise, and their lead reads its history again',
    async (count, _, kind) => {
      const wire = await swarmWire(fanOut(count, kind), { files: INSTRUCTIONS });
      await wire.say('Go.');
      const starts = wire.sent().filter(isStart);
      expect(books(starts)).toEqual({ writes: 1, reads: count - 1, paid: 0 });

      const [before, after] = wire.sent().filter((request) => !isStart(request)) as RequestRecord[];
      const left = bookedOf(before as RequestRecord).left;
      expect(left).toBeGreaterThan(HEAD);
      expect(bookedOf(after as RequestRecord).read).toBe(left);
      const cached = kind === FORKS ? left : HEAD;
      const reads = starts.map((start) => bookedOf(start).read);
      expect(Math.min(...reads)).toBeGreaterThanOrEqual(cached);
    },
  );

  test.each([
    ['forks', FORKS, 'Short.'],
    ['typed agents', EXPLORER, LONG],
  ])('nobody writes a small part, and no %s wait for it', async (_, kind, said) => {
    const gate = gateClock();
    const wire = await swarmWire(
      [
        { match: { lastUser: 'Do part' }, reply: SLOW },
        { match: { turn: 0 }, reply: { text: said, tool_use: tasks(4, kind) } },
        { reply: 'All done.' },
      ],
      { clock: gate.clock },
    );
    const ended = wire.say('Go.');
    await gate.until(4);
    gate.release();
    await ended;
    const starts = wire.sent().filter(isStart);
    expect(books(starts)).toEqual({ writes: 0, reads: 0, paid: 4 });
    for (const booked of starts.map(bookedOf)) expect(booked.left).toBe(booked.read);
    expect(bookedOf(starts[0] as RequestRecord).read).toBeGreaterThan(HEAD);
  });

  test('nobody waits for what is cached already', async () => {
    const gate = gateClock();
    const wire = await swarmWire(
      [
        { match: { lastUser: 'Do part' }, reply: SLOW },
        { match: { lastUser: 'Go' }, reply: { tool_use: tasks(4, EXPLORER) } },
        { reply: 'All done.' },
      ],
      { files: INSTRUCTIONS, clock: gate.clock },
    );
    const ended = wire.say('Go.', 'Go again.');
    await gate.until(1);
    gate.release();
    await gate.until(3);
    gate.release();
    await gate.until(4);
    gate.release();
    await ended;
    const starts = wire.sent().filter(isStart);
    expect(books(starts.slice(0, 4))).toEqual({ writes: 1, reads: 3, paid: 0 });
    expect(books(starts.slice(4))).toEqual({ writes: 0, reads: 4, paid: 0 });
  });

  test('where the first one is refused, the next one writes', async () => {
    const refusal = { error: { status: 500, headers: { 'retry-after-ms': '1' } }, delayMs: 40 };
    const wire = await swarmWire(withAccident(refusal));
    await wire.say('Go.');
    const [refused, ...starts] = wire.sent().filter(isStart);
    expect(refused?.status).toBe(500);
    expect(books(starts)).toEqual({ writes: 1, reads: 4, paid: 0 });
    expect(lastTexts(starts[0] as RequestRecord)).not.toBe(lastTexts(refused as RequestRecord));
  });

  test.each([0, 2])(
    'where the first answer is cut off after %i events, nobody writes again',
    async (afterEvents) => {
      const wire = await swarmWire(
        withAccident({ text: 'Cut.', cut: { afterEvents }, delayMs: 40 }),
      );
      await wire.say('Go.');
      expect(books(wire.sent().filter(isStart))).toEqual({ writes: 1, reads: 5, paid: 0 });
    },
  );

  test('siblings on another model than the lead write their whole beginning once', async () => {
    const kind = { ...EXPLORER, model: 'haiku' };
    const wire = await swarmWire(fanOut(10, kind), { files: INSTRUCTIONS });
    await wire.say('Go.');
    const starts = wire.sent().filter(isStart);
    expect(new Set(starts.map(({ model }) => model))).toEqual(new Set(['claude-haiku-5-5']));
    expect(books(starts)).toEqual({ writes: 1, reads: 9, paid: 0 });
    expect(starts.map(bookedOf).filter(({ read }) => read === 0)).toHaveLength(1);
  });

  test.each([
    ['one of each', ['explorer', 'reviewer', 'planner']],
    ['two of each', ['explorer', 'explorer', 'reviewer', 'reviewer']],
  ])(
    'siblings of several types on another model write what all share once: %s',
    async (_, types) => {
      const parts = types.flatMap((subagent_type) => tasks(1, { subagent_type, model: 'haiku' }));
      const wire = await swarmWire([
        { match: { lastUser: 'Do part' }, reply: SLOW },
        { match: { turn: 0 }, reply: { tool_use: parts } },
        { reply: 'All done.' },
      ]);
      await wire.say('Go.');
      const starts = wire.sent().filter(isStart);
      expect(starts).toHaveLength(types.length);
      expect(starts.map(bookedOf).filter(({ read }) => read === 0)).toHaveLength(1);
    },
  );

  test('background forks, and those that had to wait for a place, read it too', async () => {
    const settings = { skein: { maxConcurrentAgents: 2 } };
    const kind = { run_in_background: true };
    const wire = await swarmWire(
      [
        { match: { lastUser: 'Do part' }, reply: SLOW },
        { match: { turn: 0 }, reply: { text: LONG, tool_use: tasks(7, kind) } },
        { reply: 'All done.' },
      ],
      { options: { settings } },
    );
    await wire.say('Go.');
    expect(books(wire.sent().filter(isStart))).toEqual({ writes: 1, reads: 6, paid: 0 });
  });

  test('a sibling reads in its second turn what it said in its first', async () => {
    const wire = await swarmWire([
      {
        match: { lastUser: 'Do part' },
        reply: { tool_use: { name: 'Glob', input: { pattern: '*' } } },
      },
      { match: { turn: 0 }, reply: { text: LONG, tool_use: tasks(3, FORKS) } },
      { match: { toolResult: 'Agent' }, reply: 'All done.' },
      { reply: 'This part is done.' },
    ]);
    await wire.say('Go.');
    const starts = wire.sent().filter(isStart);
    const seconds = wire.sent().filter((request) => turnsIn(request) === 2);
    expect(seconds).toHaveLength(3);
    for (const second of seconds) {
      expect(bookedOf(second).read).toBeGreaterThanOrEqual(
        bookedOf(starts[0] as RequestRecord).shared,
      );
    }
  });
});
