/** Law 4 on the wire: the prefix that siblings share is cached once, and all others read it. */
import { describe, expect, test } from 'vitest';
import { billedTokens, leastTokens } from '../../../bench/billed-tokens.js';
import type { MessagesRequest } from '../../../src/simulator/messages-request.js';
import { prefixBlocks } from '../../../src/simulator/prefix-blocks.js';
import type { RequestRecord } from '../../../src/simulator/request-log.js';
import type { Reply, Rules } from '../../fakes/skein-process.js';
import { bodyOf, gateClock, lastTexts, swarmWire, tasks, turnsIn } from '../swarm-wire.js';

/** About 2,000 tokens in every prompt. */
const INSTRUCTIONS = { 'CLAUDE.md': 'Geese fly south in autumn.\n'.repeat(300) };
/** About 1,000 tokens that only forks of the same message share. */
const LONG = 'They fly in a wedge. '.repeat(200);

/** Minimum number of tokens of tools and system prompt. */
const HEAD = 5_000;

const EXPLORER = { subagent_type: 'explorer' };
/** An agent with a role of about 1,000 tokens. */
const EXPERT = { subagent_type: 'expert' };
const EXPERTS = { agents: { expert: { description: 'Knows geese.', prompt: LONG } } };
const FORKS = {};
/** Slow answer: a request that does not wait for the cache write comes too early to read it. */
const SLOW: Reply = { text: 'This part is done.', delayMs: 40 };

const isStart = (request: RequestRecord): boolean => lastTexts(request).includes('Do part');

interface CacheUse {
  /** Tokens before the sibling's own text. */
  readonly shared: number;
  readonly read: number;
  /** Cached tokens after the start of the answer. */
  readonly left: number;
}

const cacheUseOf = (request: RequestRecord): CacheUse => {
  const { usage, headers } = request;
  const betas = headers['anthropic-beta'];
  const blocks = prefixBlocks(bodyOf(request) as MessagesRequest, betas?.toString());
  const { cacheRead: read = 0, cacheWrite5m = 0, cacheWrite1h = 0 } = usage ?? {};
  return { shared: blocks.at(-2)?.end ?? 0, read, left: read + cacheWrite5m + cacheWrite1h };
};

/** Number of siblings that wrote the shared prefix, read it, or paid in full. */
const countUses = (starts: readonly RequestRecord[]) => {
  const uses = starts.filter(({ usage }) => usage !== undefined).map(cacheUseOf);
  const count = (fits: (it: CacheUse) => boolean) => uses.filter(fits).length;
  return {
    writes: count(({ read, left, shared }) => read < shared && left >= shared),
    reads: count(({ read, shared }) => read >= shared),
    paid: count(({ left, shared }) => left < shared),
  };
};

/** Lead that starts siblings in one message, each with the same reply. */
const fanOut = (count: number, kind: Record<string, unknown>, reply: Reply = SLOW): Rules => [
  { match: { lastUser: 'Do part' }, reply },
  { match: { turn: 0 }, reply: { text: LONG, tool_use: tasks(count, kind) } },
  { reply: 'All done.' },
];

/** Five forks, the first of which fails. */
const withAccident = (accident: Reply): Rules => [
  { match: { lastUser: 'Do part' }, replies: [accident, SLOW] },
  { match: { turn: 0 }, reply: { text: LONG, tool_use: tasks(5, FORKS) } },
  { reply: 'All done.' },
];

const KINDS = [
  ['forks', FORKS],
  ['typed agents', EXPERT],
] as const;
const WIDTHS = [2, 10, 100];

describe('law 4, one write per shared prefix', () => {
  test.each(KINDS.flatMap(([name, kind]) => WIDTHS.map((count) => [count, name, kind] as const)))(
    '%i %s write the shared prefix once, and their lead reads its cached history',
    async (count, _, kind) => {
      const wire = await swarmWire(fanOut(count, kind), { files: INSTRUCTIONS, options: EXPERTS });
      await wire.say('Go.');
      const starts = wire.sent().filter(isStart);
      expect(countUses(starts)).toEqual({ writes: 1, reads: count - 1, paid: 0 });

      const [before, after] = wire.sent().filter((request) => !isStart(request)) as RequestRecord[];
      const left = cacheUseOf(before as RequestRecord).left;
      expect(left).toBeGreaterThan(HEAD);
      expect(cacheUseOf(after as RequestRecord).read).toBe(left);
      const cached = kind === FORKS ? left : HEAD;
      const reads = starts.map((start) => cacheUseOf(start).read);
      expect(Math.min(...reads)).toBeGreaterThanOrEqual(cached);
    },
  );

  test('typed agents of any type read the instructions that their lead has written', async () => {
    const parts = ['explorer', 'reviewer', 'expert'].flatMap((subagent_type) =>
      tasks(2, { subagent_type }),
    );
    const wire = await swarmWire(
      [
        { match: { lastUser: 'Do part' }, reply: SLOW },
        { match: { turn: 0 }, reply: { tool_use: parts } },
        { reply: 'All done.' },
      ],
      { files: INSTRUCTIONS, options: EXPERTS },
    );
    await wire.say('Go.');
    const [lead] = wire.sent();
    const instructions = cacheUseOf(lead as RequestRecord).shared;
    const reads = wire
      .sent()
      .filter(isStart)
      .map((start) => cacheUseOf(start).read);
    expect(reads).toHaveLength(parts.length);
    expect(Math.min(...reads)).toBeGreaterThanOrEqual(instructions);
  });

  test('a lead without agents pays the minimum', async () => {
    const wire = await swarmWire(
      [
        {
          match: { turn: { max: 2 } },
          reply: { tool_use: { name: 'Glob', input: { pattern: '*' } } },
        },
        { reply: 'All done.' },
      ],
      { files: INSTRUCTIONS },
    );
    await wire.say('Go.');
    const { written } = leastTokens(
      wire.sent().map((request) => ({
        body: bodyOf(request) as MessagesRequest,
        betas: String(request.headers['anthropic-beta'] ?? ''),
      })),
    );
    const paid = wire.sent().map(({ usage }) => (usage ? billedTokens(usage) : 0));
    expect(paid).toHaveLength(4);
    expect(paid.reduce((sum, tokens) => sum + tokens, 0)).toBeCloseTo(written, 0);
  });

  test.each([
    ['forks', FORKS, 'Short.'],
    ['typed agents', EXPLORER, LONG],
  ])('no agent writes a small prefix, and no %s wait for it', async (_, kind, leadText) => {
    const gate = gateClock();
    const wire = await swarmWire(
      [
        { match: { lastUser: 'Do part' }, reply: SLOW },
        { match: { turn: 0 }, reply: { text: leadText, tool_use: tasks(4, kind) } },
        { reply: 'All done.' },
      ],
      { clock: gate.clock },
    );
    const ended = wire.say('Go.');
    await gate.until(4);
    gate.release();
    await ended;
    const starts = wire.sent().filter(isStart);
    expect(countUses(starts)).toEqual({ writes: 0, reads: 0, paid: 4 });
    for (const use of starts.map(cacheUseOf)) expect(use.left).toBe(use.read);
    expect(cacheUseOf(starts[0] as RequestRecord).read).toBeGreaterThan(HEAD);
  });

  test('no agent waits for a prefix that is already cached', async () => {
    const gate = gateClock();
    const wire = await swarmWire(
      [
        { match: { lastUser: 'Do part' }, reply: SLOW },
        { match: { lastUser: 'Go' }, reply: { tool_use: tasks(4, EXPERT) } },
        { reply: 'All done.' },
      ],
      { files: INSTRUCTIONS, clock: gate.clock, options: EXPERTS },
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
    expect(countUses(starts.slice(0, 4))).toEqual({ writes: 1, reads: 3, paid: 0 });
    expect(countUses(starts.slice(4))).toEqual({ writes: 0, reads: 4, paid: 0 });
  });

  test('if the first request is refused, the next request writes the prefix', async () => {
    const refusal = { error: { status: 500, headers: { 'retry-after-ms': '1' } }, delayMs: 40 };
    const wire = await swarmWire(withAccident(refusal));
    await wire.say('Go.');
    const [refused, ...starts] = wire.sent().filter(isStart);
    expect(refused?.status).toBe(500);
    expect(countUses(starts)).toEqual({ writes: 1, reads: 4, paid: 0 });
    expect(lastTexts(starts[0] as RequestRecord)).not.toBe(lastTexts(refused as RequestRecord));
  });

  test.each([0, 2])(
    'if the first answer is cut off after %i events, no agent writes the prefix again',
    async (afterEvents) => {
      const wire = await swarmWire(
        withAccident({ text: 'Cut.', cut: { afterEvents }, delayMs: 40 }),
      );
      await wire.say('Go.');
      expect(countUses(wire.sent().filter(isStart))).toEqual({ writes: 1, reads: 5, paid: 0 });
    },
  );

  test('siblings with another model than the lead write their whole prefix once', async () => {
    const kind = { ...EXPLORER, model: 'haiku' };
    const wire = await swarmWire(fanOut(10, kind), { files: INSTRUCTIONS });
    await wire.say('Go.');
    const starts = wire.sent().filter(isStart);
    expect(new Set(starts.map(({ model }) => model))).toEqual(new Set(['claude-haiku-5-5']));
    expect(countUses(starts)).toEqual({ writes: 1, reads: 9, paid: 0 });
    expect(starts.map(cacheUseOf).filter(({ read }) => read === 0)).toHaveLength(1);
  });

  test.each([
    ['one of each type', ['explorer', 'reviewer', 'planner']],
    ['two of each type', ['explorer', 'explorer', 'reviewer', 'reviewer']],
  ])(
    'siblings of several types with another model write their common prefix once: %s',
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
      expect(starts.map(cacheUseOf).filter(({ read }) => read === 0)).toHaveLength(1);
    },
  );

  test('background forks and queued forks read the prefix too', async () => {
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
    expect(countUses(wire.sent().filter(isStart))).toEqual({ writes: 1, reads: 6, paid: 0 });
  });

  test('a sibling reads its first turn from the cache in its second turn', async () => {
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
      expect(cacheUseOf(second).read).toBeGreaterThanOrEqual(
        cacheUseOf(starts[0] as RequestRecord).shared,
      );
    }
  });
});
