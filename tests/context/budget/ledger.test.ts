import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Ledger, NOTHING_USED, rootBudget } from '../../../src/context/budget/ledger.js';
import type { Stop } from '../../../src/protocol/agent/stop.js';
import type { Caps, RequestEstimate, Reservation } from '../../../src/protocol/model/budget.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';

/** One of its tokens costs two millionths to read anew… */
const MODEL = 'claude-sonnet-5-5';
/** …and this is a request of so many dollars, before its answer. */
const need = (usd: number, more: Partial<RequestEstimate> = {}): RequestEstimate => ({
  model: MODEL,
  inputTokens: Math.round(usd / 2.5e-6),
  knownTokens: 0,
  maxOutputTokens: 0,
  isTurn: true,
  ...more,
});

const grantOf = (usd: number | null, turns: number | null = null) =>
  new Ledger({ usd, tokens: null, turns }, undefined);
const NO_CAPS: Caps = { usd: null, tokens: null, turns: null };
const never = new AbortController().signal;
const cost = (usd: number | null) => ({ usage: NO_USAGE, cost: usd });

const isStop = (answer: Reservation | Stop): answer is Stop => 'reason' in answer;

/** What the promise has come to by now. */
const peek = async <T>(promise: Promise<T>): Promise<T | 'waits'> => {
  await new Promise((resolve) => setImmediate(resolve));
  return Promise.race([promise, Promise.resolve<'waits'>('waits')]);
};

const granted = async (answer: Promise<Reservation | Stop>): Promise<Reservation> => {
  const got = await answer;
  if (isStop(got)) throw new Error(`refused: ${got.detail}`);
  return got;
};

describe('a grant', () => {
  test('without a limit grants all, and counts', async () => {
    const grant = grantOf(null);
    const reservation = await granted(grant.reserve(need(1_000), never));
    expect(reservation.reserved).toBeNull();
    reservation.settle(cost(7));
    expect([grant.spent, grant.overshoot.usd]).toEqual([7, 0]);
  });

  test('of zero is none, even for a request that would cost nothing', async () => {
    for (const grant of [grantOf(0), grantOf(5).share({ ...NO_CAPS, usd: 0 })]) {
      expect(await grant.reserve(need(0), never)).toMatchObject({ reason: 'budget' });
    }
    const turnless = await grantOf(null, 0).reserve(need(0), never);
    expect(turnless).toMatchObject({ reason: 'max_turns' });
  });

  test('sets the prompt aside, and an answer of the usual length', async () => {
    const grant = grantOf(10);
    // 1,000 known at 0.2, 2,000 new at 2.5, 4,096 written at 10 millionths.
    const wanted = need(0, { inputTokens: 3_000, knownTokens: 1_000, maxOutputTokens: 32_000 });
    const { reserved: held } = await granted(grant.reserve(wanted, never));
    expect(held?.usd).toBeCloseTo(0.0002 + 0.005 + 0.04096, 9);
    expect(held?.left).toBeCloseTo(10 - 0.04616, 9);
  });

  test('sets aside no more for an answer than there is', async () => {
    const grant = grantOf(0.02);
    const { reserved: held } = await granted(
      grant.reserve(need(0.01, { maxOutputTokens: 9_000 }), never),
    );
    expect(held).toEqual({ usd: 0.02, left: 0 });
  });

  test('says what was spent and what to do when it is used up', async () => {
    const grant = grantOf(1);
    (await granted(grant.reserve(need(0.5), never))).settle(cost(1.25));
    expect(await grant.reserve(need(0.01), never)).toEqual({
      reason: 'budget',
      detail:
        'The budget of $1 is used up: $1.2500 is spent, and the next request costs at least $0.0100; resume with a higher --max-budget-usd.',
    });
    expect(grant.overshoot.usd).toBeCloseTo(0.25, 9);
  });

  test('tells a child with a share of its own that it is its own', async () => {
    const root = grantOf(5);
    const child = root.share({ ...NO_CAPS, usd: 1 });
    const refused = await child.reserve(need(2), never);
    expect(refused).toMatchObject({ detail: expect.stringContaining('share of the budget, $1,') });
    expect(await root.reserve(need(4.5), never)).toMatchObject({
      detail: expect.stringContaining('$0.0000 is spent and $1.0000 set aside for its agents'),
    });
  });

  test('cannot keep a limit with a model whose price nobody knows', async () => {
    const unknown = { ...need(0.1), model: 'local' };
    expect(await grantOf(5).reserve(unknown, never)).toMatchObject({
      detail: expect.stringContaining('price of the model is unknown'),
    });
    const grant = grantOf(5);
    const child = grant.share(NO_CAPS);
    (await granted(child.reserve(need(0.1), never))).settle(cost(null));
    expect([child.spent, grant.spent]).toEqual([null, null]);
    expect(await grant.reserve(need(0.1), never)).toMatchObject({ reason: 'budget' });
    await granted(grantOf(null).reserve(unknown, never));
  });

  test('waits for what others in flight may give back, in the order of coming', async () => {
    const grant = grantOf(1);
    const first = await granted(grant.reserve(need(0.9), never));
    const second = grant.share(NO_CAPS).reserve(need(0.5), never);
    const third = grant.reserve(need(0.01), never);
    expect(await peek(second)).toBe('waits');
    expect(await peek(third)).toBe('waits');
    first.settle(cost(0.2));
    await granted(second);
    await granted(third);
  });

  test('tells those who have to wait, and nobody else', async () => {
    const grant = grantOf(1);
    const told: string[] = [];
    const reserve = (usd: number) => grant.reserve(need(usd), never, (why) => told.push(why));
    const first = await granted(reserve(0.9));
    expect(told).toEqual([]);
    const second = reserve(0.5);
    expect(told).toEqual(['budget']);
    first.settle(cost(0.2));
    await granted(second);
    expect(await reserve(2)).toMatchObject({ reason: 'budget' });
    expect(told).toEqual(['budget']);
  });

  test('refuses those who wait as soon as what is spent forbids them', async () => {
    const grant = grantOf(1);
    const first = await granted(grant.reserve(need(0.9), never));
    const second = grant.reserve(need(0.5), never);
    first.settle(cost(2));
    expect(await second).toMatchObject({ reason: 'budget' });
  });

  test('tells one that has its part, and has sent nothing, that others have used it up', async () => {
    const grant = grantOf(1);
    const first = await granted(grant.reserve(need(0.5), never));
    const second = await granted(grant.reserve(need(0.2), never));
    expect(second.refusal()).toBeNull();
    first.settle(cost(2));
    expect(second.refusal()).toMatchObject({ reason: 'budget' });
  });

  test('forgets whoever gives up, and lets the next one go', async () => {
    const grant = grantOf(1);
    const first = await granted(grant.reserve(need(0.6), never));
    const giver = new AbortController();
    const large = grant.reserve(need(0.7), giver.signal);
    const small = grant.reserve(need(0.1), never);
    expect(await peek(small)).toBe('waits');
    giver.abort(new Error('enough'));
    await expect(large).rejects.toThrow('enough');
    await granted(small);
    first.cancel();
    expect(grant.balances.money?.left).toBeCloseTo(0.9, 9);
    await expect(grant.reserve(need(0), giver.signal)).rejects.toThrow('enough');
  });

  test('gives back what a closed share did not use, to whoever asks next', async () => {
    const root = grantOf(10);
    const child = root.share({ ...NO_CAPS, usd: 9 });
    const last = await granted(child.reserve(need(2), never));
    child.close();
    expect(await child.reserve(need(0.1), never)).toMatchObject({ reason: 'budget' });
    expect(root.balances.money?.left).toBeCloseTo(8, 9);
    last.settle(cost(0.5));
    expect(root.balances.money?.left).toBeCloseTo(9.5, 9);
    expect(root.spent).toBe(0.5);
  });

  test('counts a turn once, however often it is tried', async () => {
    const grant = grantOf(null, 2);
    (await granted(grant.reserve(need(0), never))).settle(cost(0));
    (await granted(grant.reserve(need(0, { isTurn: false }), never))).settle(cost(0));
    (await granted(grant.reserve(need(0), never))).cancel();
    const child = grant.share(NO_CAPS);
    (await granted(child.reserve(need(0), never))).settle(cost(0));
    expect(await child.reserve(need(0), never)).toMatchObject({
      reason: 'max_turns',
      detail: expect.stringContaining('raise --max-turns'),
    });
    await granted(grant.reserve(need(0, { isTurn: false }), never));
    grant.renew();
    await granted(grant.reserve(need(0), never));
  });

  test('of tokens keeps them as it keeps money, prompts that are cached included', async () => {
    const grant = new Ledger({ ...NO_CAPS, tokens: 10_000 }, undefined);
    const asked = (inputTokens: number) =>
      grant.reserve({ ...need(0), inputTokens, knownTokens: inputTokens }, never);
    const first = await granted(asked(6_000));
    expect(first.reserved).toEqual({ tokens: 6_000, tokensLeft: 4_000 });
    const second = asked(5_000);
    expect(await peek(second)).toBe('waits');
    first.settle({ usage: { ...NO_USAGE, cacheRead: 3_000, output: 500 }, cost: null });
    (await granted(second)).settle({ usage: { ...NO_USAGE, input: 7_000 }, cost: 0 });
    expect(grant.overshoot).toEqual({ usd: 0, tokens: 500 });
    expect(await asked(0)).toEqual({
      reason: 'budget',
      detail:
        'The budget of 10,000 tokens is used up: 10,500 tokens is spent, and the next request costs at least 0 tokens; resume with a higher skein.maxBudgetTokens (SKEIN_MAX_BUDGET_TOKENS).',
    });
  });

  test('of money and tokens gives the one back when the other is refused or given up', async () => {
    const grant = new Ledger({ usd: 1, tokens: 1_000, turns: null }, undefined);
    const asked = (inputTokens: number, signal = never) =>
      grant.reserve({ ...need(0), inputTokens }, signal);
    expect(await asked(2_000)).toMatchObject({ reason: 'budget' });
    expect(grant.balances.money?.left).toBe(1);
    const first = await granted(asked(900));
    const giver = new AbortController();
    const second = asked(500, giver.signal);
    expect(await peek(second)).toBe('waits');
    expect(grant.balances.money?.reserved).toBeGreaterThan(first.reserved?.usd ?? 0);
    giver.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    expect(grant.balances.money?.reserved).toBeCloseTo(first.reserved?.usd ?? 0, 9);
    first.cancel();
    expect(grant.balances).toMatchObject({ money: { left: 1 }, tokens: { left: 1_000 } });
  });

  test('goes on with what was used before, until it is renewed', async () => {
    const grant = rootBudget(
      { ...NO_CAPS, usd: 1, turns: 3 },
      { ...NOTHING_USED, usd: 0.75, turns: 2 },
    );
    expect(await grant.reserve(need(0.5), never)).toMatchObject({
      reason: 'budget',
      detail: expect.stringContaining('$0.7500 is spent'),
    });
    (await granted(grant.reserve(need(0.125), never))).settle(cost(0.125));
    expect(await grant.reserve(need(0), never)).toMatchObject({ reason: 'max_turns' });
    grant.renew();
    expect(grant.spent).toBe(0.125);
    await granted(grant.reserve(need(0.5), never));
    grant.renew();
    expect(grant.spent).toBe(0.125);
  });

  test('settles once, whatever is said afterwards', async () => {
    const grant = grantOf(1, 5);
    const reservation = await granted(grant.reserve(need(0.5), never));
    reservation.settle(cost(0.25));
    reservation.settle(cost(0.25));
    reservation.cancel();
    expect(grant.spent).toBe(0.25);
    expect(grant.balances).toMatchObject({
      money: { left: 0.75, reserved: 0 },
      turns: { left: 4 },
    });
  });
});

const cents = (max: number) => fc.nat(max).map((amount) => amount / 100);
interface Step {
  readonly do: 'share' | 'reserve' | 'settle' | 'cancel' | 'abort' | 'close';
  readonly at: number;
  readonly usd: number;
  readonly cap: number | null;
  readonly tokens: number | null;
  readonly turns: number | null;
}
const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom<Step['do'][]>(
    'share',
    'reserve',
    'reserve',
    'reserve',
    'settle',
    'cancel',
    'abort',
    'close',
  ),
  at: fc.nat(1_000),
  usd: cents(80),
  cap: fc.option(cents(300)),
  tokens: fc.option(fc.nat(1_200_000)),
  turns: fc.option(fc.nat(6)),
});

interface Asked {
  readonly at: number;
  readonly owner: Ledger | undefined;
  readonly giver: AbortController;
  reservation?: Reservation;
  over: boolean;
}

/** Resolves when every promise that can settle now has settled. */
const drained = () => new Promise((resolve) => setImmediate(resolve));

/** Agents that ask, spend, give up, have children and end, in any order. */
const storm = async (
  root: Ledger,
  steps: readonly Step[],
  look: (grants: readonly Ledger[], asked: readonly Asked[]) => void,
  answered: (one: Asked) => void = () => {},
) => {
  const grants = [root];
  /** Whose limit each of them keeps. */
  const owners = new Map([[root, root]]);
  const asked: Asked[] = [];
  const flying = () => asked.filter(({ reservation, over }) => reservation && !over);
  const settle = (one: Asked | undefined, usd: number) => {
    if (one === undefined) return;
    one.over = true;
    one.reservation?.settle(cost(usd));
  };
  for (const { do: what, at, usd, cap, tokens, turns } of steps) {
    const grant = grants[at % grants.length] as Ledger;
    const waiting = asked.filter(({ reservation, over }) => !reservation && !over);
    if (what === 'share') {
      const child = grant.share({ usd: cap, tokens, turns }) as Ledger;
      grants.push(child);
      // A request of a child with its own limit may wait longer than later requests of its parent.
      const isOwner = cap !== null || tokens !== null;
      owners.set(child, isOwner ? child : (owners.get(grant) ?? root));
    }
    if (what === 'close' && grant !== root) grant.close();
    if (what === 'settle') settle(flying()[at % flying().length], usd);
    if (what === 'abort') waiting[at % waiting.length]?.giver.abort();
    if (what === 'cancel') {
      const one = flying()[at % flying().length];
      if (one) one.over = true;
      one?.reservation?.cancel();
    }
    if (what === 'reserve') {
      const giver = new AbortController();
      const one: Asked = { at: asked.length, owner: owners.get(grant), giver, over: false };
      asked.push(one);
      grant.reserve(need(usd, { maxOutputTokens: at * 9, isTurn: at % 3 > 0 }), giver.signal).then(
        (answer) => {
          if (isStop(answer)) {
            one.over = true;
            return;
          }
          answered(one);
          one.reservation = answer;
        },
        () => {
          one.over = true;
        },
      );
    }
    await drained();
    look(grants, asked);
  }
  // Whatever is in flight comes to an end at last.
  for (let rounds = 0; flying().length > 0; rounds += 1) {
    expect(rounds).toBeLessThan(steps.length + 1);
    for (const one of flying()) settle(one, 0.01);
    await drained();
    look(grants, asked);
  }
  return { grants, asked };
};

const storms = fc.array(step, { maxLength: 60 });

describe('a tree of grants', () => {
  test('loses no money and makes none, in any order of asking, spending, sharing and ending', async () => {
    await fc.assert(
      fc.asyncProperty(storms, cents(500), async (steps, cap) => {
        const root = grantOf(cap, 40);
        const { grants } = await storm(root, steps, (all) => {
          for (const { balances: books } of all) {
            for (const book of [books.money, books.turns]) {
              if (book === null) throw new Error('there is a limit, so there are books');
              const { used, reserved, promised, left } = book;
              expect(used + reserved + promised + left).toBeCloseTo(book.cap, 6);
            }
          }
        });
        for (const grant of grants.slice(1)) grant.close();
        const { left = 0, reserved } = root.balances.money ?? {};
        expect(reserved).toBe(0);
        expect(left + (root.spent ?? 0)).toBeCloseTo(cap, 6);
      }),
      { numRuns: 60 },
    );
  });

  test('leaves no request waiting when nothing is in flight, and grants in the order of asking', async () => {
    await fc.assert(
      fc.asyncProperty(storms, cents(500), async (steps, cap) => {
        const order = new Map<unknown, number>();
        const { asked } = await storm(
          grantOf(cap, 40),
          steps,
          () => {},
          ({ owner, at }) => {
            expect(at).toBeGreaterThan(order.get(owner) ?? -1);
            order.set(owner, at);
          },
        );
        expect(asked.filter(({ over }) => !over)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test('passes its limit by at most one answer for each request in flight', async () => {
    const costs = fc.array(fc.record({ usd: cents(90), want: cents(40), width: fc.nat(5) }), {
      minLength: 1,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(costs, cents(300), async (requests, cap) => {
        const root = grantOf(cap);
        const agents = [root, root.share(NO_CAPS), root.share(NO_CAPS).share(NO_CAPS)];
        const flying: { reservation: Reservation; usd: number }[] = [];
        let allowed: number | undefined;
        const settleFirst = () => {
          const before = flying.reduce((sum, { usd }) => sum + usd, 0);
          const one = flying.shift();
          one?.reservation.settle(cost(one.usd));
          if ((root.spent ?? 0) >= cap) allowed ??= before;
        };
        for (const { usd, want, width } of requests) {
          while (flying.length > width) settleFirst();
          const asking = agents[width % 3]?.reserve(need(want), never);
          for (;;) {
            const answer = await peek(asking as Promise<Reservation | Stop>);
            if (answer !== 'waits') {
              if (!isStop(answer)) flying.push({ reservation: answer, usd });
              break;
            }
            settleFirst();
          }
        }
        while (flying.length > 0) settleFirst();
        expect(root.overshoot.usd).toBeLessThanOrEqual((allowed ?? 0) + 1e-6);
        expect(root.overshoot.usd).toBeCloseTo(Math.max(0, (root.spent ?? 0) - cap), 6);
      }),
      { numRuns: 60 },
    );
  });
});
