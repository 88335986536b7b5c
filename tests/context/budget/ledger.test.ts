import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Ledger, NOTHING_USED, rootBudget } from '../../../src/context/budget/ledger.js';
import type { Stop } from '../../../src/protocol/agent/stop.js';
import type { Caps, RequestEstimate, Reservation } from '../../../src/protocol/model/budget.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';

/** Its input tokens cost $2 per million. */
const MODEL = 'claude-sonnet-5-5';
/** A request that costs `usd` before its answer. */
const need = (usd: number, more: Partial<RequestEstimate> = {}): RequestEstimate => ({
  model: MODEL,
  inputTokens: Math.round(usd / 2.5e-6),
  knownTokens: 0,
  maxOutputTokens: 0,
  isTurn: true,
  ...more,
});

const budgetOf = (usd: number | null, turns: number | null = null) =>
  new Ledger({ usd, tokens: null, turns }, undefined);
const NO_CAPS: Caps = { usd: null, tokens: null, turns: null };
const never = new AbortController().signal;
const cost = (usd: number | null) => ({ usage: NO_USAGE, cost: usd });

const isStop = (answer: Reservation | Stop): answer is Stop => 'reason' in answer;

/** Current state of the promise. */
const peek = async <T>(promise: Promise<T>): Promise<T | 'waits'> => {
  await new Promise((resolve) => setImmediate(resolve));
  return Promise.race([promise, Promise.resolve<'waits'>('waits')]);
};

const reservationOf = async (answer: Promise<Reservation | Stop>): Promise<Reservation> => {
  const got = await answer;
  if (isStop(got)) throw new Error(`refused: ${got.detail}`);
  return got;
};

describe('a budget', () => {
  test('without a limit accepts all requests and counts the cost', async () => {
    const budget = budgetOf(null);
    const reservation = await reservationOf(budget.reserve(need(1_000), never));
    expect(reservation.reserved).toBeNull();
    reservation.settle(cost(7));
    expect([budget.spent, budget.overshoot.usd]).toEqual([7, 0]);
  });

  test('of zero refuses every request, including a request without cost', async () => {
    for (const budget of [budgetOf(0), budgetOf(5).share({ ...NO_CAPS, usd: 0 })]) {
      expect(await budget.reserve(need(0), never)).toMatchObject({ reason: 'budget' });
    }
    const withoutTurns = await budgetOf(null, 0).reserve(need(0), never);
    expect(withoutTurns).toMatchObject({ reason: 'max_turns' });
  });

  test('reserves the prompt and an answer of typical length', async () => {
    const budget = budgetOf(10);
    // 1,000 cached tokens at 0.2, 2,000 new at 2.5, 4,096 output at 10 millionths of a dollar.
    const estimate = need(0, { inputTokens: 3_000, knownTokens: 1_000, maxOutputTokens: 32_000 });
    const { reserved: amount } = await reservationOf(budget.reserve(estimate, never));
    expect(amount?.usd).toBeCloseTo(0.0002 + 0.005 + 0.04096, 9);
    expect(amount?.left).toBeCloseTo(10 - 0.04616, 9);
  });

  test('reserves at most the rest for an answer', async () => {
    const budget = budgetOf(0.02);
    const { reserved: amount } = await reservationOf(
      budget.reserve(need(0.01, { maxOutputTokens: 9_000 }), never),
    );
    expect(amount).toEqual({ usd: 0.02, left: 0 });
  });

  test('refuses with the spent amount and advice if it is used up', async () => {
    const budget = budgetOf(1);
    (await reservationOf(budget.reserve(need(0.5), never))).settle(cost(1.25));
    expect(await budget.reserve(need(0.01), never)).toEqual({
      reason: 'budget',
      detail:
        'The budget of $1 is used up: $1.2500 is spent, and the next request costs at least $0.0100; resume with a higher --max-budget-usd.',
    });
    expect(budget.overshoot.usd).toBeCloseTo(0.25, 9);
  });

  test('refuses a child with the limit of the child', async () => {
    const root = budgetOf(5);
    const child = root.share({ ...NO_CAPS, usd: 1 });
    const refused = await child.reserve(need(2), never);
    expect(refused).toMatchObject({ detail: expect.stringContaining('share of the budget, $1,') });
    expect(await root.reserve(need(4.5), never)).toMatchObject({
      detail: expect.stringContaining('$0.0000 is spent and $1.0000 set aside for its agents'),
    });
  });

  test('refuses a model with an unknown price if it has a limit', async () => {
    const unknown = { ...need(0.1), model: 'local' };
    expect(await budgetOf(5).reserve(unknown, never)).toMatchObject({
      detail: expect.stringContaining('price of the model is unknown'),
    });
    const budget = budgetOf(5);
    const child = budget.share(NO_CAPS);
    (await reservationOf(child.reserve(need(0.1), never))).settle(cost(null));
    expect([child.spent, budget.spent]).toEqual([null, null]);
    expect(await budget.reserve(need(0.1), never)).toMatchObject({ reason: 'budget' });
    await reservationOf(budgetOf(null).reserve(unknown, never));
  });

  test('queues requests until requests in flight return money, in order', async () => {
    const budget = budgetOf(1);
    const first = await reservationOf(budget.reserve(need(0.9), never));
    const second = budget.share(NO_CAPS).reserve(need(0.5), never);
    const third = budget.reserve(need(0.01), never);
    expect(await peek(second)).toBe('waits');
    expect(await peek(third)).toBe('waits');
    first.settle(cost(0.2));
    await reservationOf(second);
    await reservationOf(third);
  });

  test('notifies only requests that have to wait', async () => {
    const budget = budgetOf(1);
    const reasons: string[] = [];
    const reserve = (usd: number) => budget.reserve(need(usd), never, (why) => reasons.push(why));
    const first = await reservationOf(reserve(0.9));
    expect(reasons).toEqual([]);
    const second = reserve(0.5);
    expect(reasons).toEqual(['budget']);
    first.settle(cost(0.2));
    await reservationOf(second);
    expect(await reserve(2)).toMatchObject({ reason: 'budget' });
    expect(reasons).toEqual(['budget']);
  });

  test('refuses waiting requests as soon as too much is spent', async () => {
    const budget = budgetOf(1);
    const first = await reservationOf(budget.reserve(need(0.9), never));
    const second = budget.reserve(need(0.5), never);
    first.settle(cost(2));
    expect(await second).toMatchObject({ reason: 'budget' });
  });

  test('revokes an unsent reservation if other requests exceed the limit', async () => {
    const budget = budgetOf(1);
    const first = await reservationOf(budget.reserve(need(0.5), never));
    const second = await reservationOf(budget.reserve(need(0.2), never));
    expect(second.refusal()).toBeNull();
    first.settle(cost(2));
    expect(second.refusal()).toMatchObject({ reason: 'budget' });
  });

  test('drops an aborted request and continues with the next request', async () => {
    const budget = budgetOf(1);
    const first = await reservationOf(budget.reserve(need(0.6), never));
    const controller = new AbortController();
    const large = budget.reserve(need(0.7), controller.signal);
    const small = budget.reserve(need(0.1), never);
    expect(await peek(small)).toBe('waits');
    controller.abort(new Error('enough'));
    await expect(large).rejects.toThrow('enough');
    await reservationOf(small);
    first.cancel();
    expect(budget.balances.money?.left).toBeCloseTo(0.9, 9);
    await expect(budget.reserve(need(0), controller.signal)).rejects.toThrow('enough');
  });

  test('gets back the unused part of a closed share', async () => {
    const root = budgetOf(10);
    const child = root.share({ ...NO_CAPS, usd: 9 });
    const last = await reservationOf(child.reserve(need(2), never));
    child.close();
    expect(await child.reserve(need(0.1), never)).toMatchObject({ reason: 'budget' });
    expect(root.balances.money?.left).toBeCloseTo(8, 9);
    last.settle(cost(0.5));
    expect(root.balances.money?.left).toBeCloseTo(9.5, 9);
    expect(root.spent).toBe(0.5);
  });

  test('counts a turn only once for several attempts', async () => {
    const budget = budgetOf(null, 2);
    (await reservationOf(budget.reserve(need(0), never))).settle(cost(0));
    (await reservationOf(budget.reserve(need(0, { isTurn: false }), never))).settle(cost(0));
    (await reservationOf(budget.reserve(need(0), never))).cancel();
    const child = budget.share(NO_CAPS);
    (await reservationOf(child.reserve(need(0), never))).settle(cost(0));
    expect(await child.reserve(need(0), never)).toMatchObject({
      reason: 'max_turns',
      detail: expect.stringContaining('raise --max-turns'),
    });
    await reservationOf(budget.reserve(need(0, { isTurn: false }), never));
    budget.renew();
    await reservationOf(budget.reserve(need(0), never));
  });

  test('of tokens works like a budget of money, and counts cached tokens', async () => {
    const budget = new Ledger({ ...NO_CAPS, tokens: 10_000 }, undefined);
    const reserveTokens = (inputTokens: number) =>
      budget.reserve({ ...need(0), inputTokens, knownTokens: inputTokens }, never);
    const first = await reservationOf(reserveTokens(6_000));
    expect(first.reserved).toEqual({ tokens: 6_000, tokensLeft: 4_000 });
    const second = reserveTokens(5_000);
    expect(await peek(second)).toBe('waits');
    first.settle({ usage: { ...NO_USAGE, cacheRead: 3_000, output: 500 }, cost: null });
    (await reservationOf(second)).settle({ usage: { ...NO_USAGE, input: 7_000 }, cost: 0 });
    expect(budget.overshoot).toEqual({ usd: 0, tokens: 500 });
    expect(await reserveTokens(0)).toEqual({
      reason: 'budget',
      detail:
        'The budget of 10,000 tokens is used up: 10,500 tokens is spent, and the next request costs at least 0 tokens; resume with a higher skein.maxBudgetTokens (SKEIN_MAX_BUDGET_TOKENS).',
    });
  });

  test('of money and tokens returns the money if the tokens are refused or the request is aborted', async () => {
    const budget = new Ledger({ usd: 1, tokens: 1_000, turns: null }, undefined);
    const reserveTokens = (inputTokens: number, signal = never) =>
      budget.reserve({ ...need(0), inputTokens }, signal);
    expect(await reserveTokens(2_000)).toMatchObject({ reason: 'budget' });
    expect(budget.balances.money?.left).toBe(1);
    const first = await reservationOf(reserveTokens(900));
    const controller = new AbortController();
    const second = reserveTokens(500, controller.signal);
    expect(await peek(second)).toBe('waits');
    expect(budget.balances.money?.reserved).toBeGreaterThan(first.reserved?.usd ?? 0);
    controller.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    expect(budget.balances.money?.reserved).toBeCloseTo(first.reserved?.usd ?? 0, 9);
    first.cancel();
    expect(budget.balances).toMatchObject({ money: { left: 1 }, tokens: { left: 1_000 } });
  });

  test('continues with the earlier usage until it is renewed', async () => {
    const budget = rootBudget(
      { ...NO_CAPS, usd: 1, turns: 3 },
      { ...NOTHING_USED, usd: 0.75, turns: 2 },
    );
    expect(await budget.reserve(need(0.5), never)).toMatchObject({
      reason: 'budget',
      detail: expect.stringContaining('$0.7500 is spent'),
    });
    (await reservationOf(budget.reserve(need(0.125), never))).settle(cost(0.125));
    expect(await budget.reserve(need(0), never)).toMatchObject({ reason: 'max_turns' });
    budget.renew();
    expect(budget.spent).toBe(0.125);
    await reservationOf(budget.reserve(need(0.5), never));
    budget.renew();
    expect(budget.spent).toBe(0.125);
  });

  test('settles a reservation only once', async () => {
    const budget = budgetOf(1, 5);
    const reservation = await reservationOf(budget.reserve(need(0.5), never));
    reservation.settle(cost(0.25));
    reservation.settle(cost(0.25));
    reservation.cancel();
    expect(budget.spent).toBe(0.25);
    expect(budget.balances).toMatchObject({
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

interface PendingRequest {
  readonly at: number;
  readonly owner: Ledger | undefined;
  readonly controller: AbortController;
  reservation?: Reservation;
  over: boolean;
}

/** Resolves when every promise that can settle now has settled. */
const drained = () => new Promise((resolve) => setImmediate(resolve));

/** Reserves, settles, cancels, aborts, shares and closes in the given order. */
const runSteps = async (
  root: Ledger,
  steps: readonly Step[],
  check: (budgets: readonly Ledger[], requests: readonly PendingRequest[]) => void,
  answered: (request: PendingRequest) => void = () => {},
) => {
  const budgets = [root];
  /** The budget whose limit applies to each budget. */
  const owners = new Map([[root, root]]);
  const requests: PendingRequest[] = [];
  const inFlight = () => requests.filter(({ reservation, over }) => reservation && !over);
  const settle = (request: PendingRequest | undefined, usd: number) => {
    if (request === undefined) return;
    request.over = true;
    request.reservation?.settle(cost(usd));
  };
  for (const { do: action, at, usd, cap, tokens, turns } of steps) {
    const budget = budgets[at % budgets.length] as Ledger;
    const waiting = requests.filter(({ reservation, over }) => !reservation && !over);
    if (action === 'share') {
      const child = budget.share({ usd: cap, tokens, turns }) as Ledger;
      budgets.push(child);
      // A request of a child with its own limit may wait longer than later requests of its parent.
      const isOwner = cap !== null || tokens !== null;
      owners.set(child, isOwner ? child : (owners.get(budget) ?? root));
    }
    if (action === 'close' && budget !== root) budget.close();
    if (action === 'settle') settle(inFlight()[at % inFlight().length], usd);
    if (action === 'abort') waiting[at % waiting.length]?.controller.abort();
    if (action === 'cancel') {
      const request = inFlight()[at % inFlight().length];
      if (request) request.over = true;
      request?.reservation?.cancel();
    }
    if (action === 'reserve') {
      const controller = new AbortController();
      const request: PendingRequest = {
        at: requests.length,
        owner: owners.get(budget),
        controller,
        over: false,
      };
      requests.push(request);
      budget
        .reserve(need(usd, { maxOutputTokens: at * 9, isTurn: at % 3 > 0 }), controller.signal)
        .then(
          (answer) => {
            if (isStop(answer)) {
              request.over = true;
              return;
            }
            answered(request);
            request.reservation = answer;
          },
          () => {
            request.over = true;
          },
        );
    }
    await drained();
    check(budgets, requests);
  }
  // Settles all requests in flight.
  for (let rounds = 0; inFlight().length > 0; rounds += 1) {
    expect(rounds).toBeLessThan(steps.length + 1);
    for (const request of inFlight()) settle(request, 0.01);
    await drained();
    check(budgets, requests);
  }
  return { budgets, requests };
};

const stepLists = fc.array(step, { maxLength: 60 });

describe('a tree of budgets', () => {
  test('neither loses nor creates money in any order of operations', async () => {
    await fc.assert(
      fc.asyncProperty(stepLists, cents(500), async (steps, cap) => {
        const root = budgetOf(cap, 40);
        const { budgets } = await runSteps(root, steps, (all) => {
          for (const { balances } of all) {
            for (const balance of [balances.money, balances.turns]) {
              if (balance === null) throw new Error('there is a limit, so there are balances');
              const { used, reserved, allocated, left } = balance;
              expect(used + reserved + allocated + left).toBeCloseTo(balance.cap, 6);
            }
          }
        });
        for (const budget of budgets.slice(1)) budget.close();
        const { left = 0, reserved } = root.balances.money ?? {};
        expect(reserved).toBe(0);
        expect(left + (root.spent ?? 0)).toBeCloseTo(cap, 6);
      }),
      { numRuns: 60 },
    );
  });

  test('leaves no request waiting without requests in flight, and reserves in order', async () => {
    await fc.assert(
      fc.asyncProperty(stepLists, cents(500), async (steps, cap) => {
        const order = new Map<unknown, number>();
        const { requests } = await runSteps(
          budgetOf(cap, 40),
          steps,
          () => {},
          ({ owner, at }) => {
            expect(at).toBeGreaterThan(order.get(owner) ?? -1);
            order.set(owner, at);
          },
        );
        expect(requests.filter(({ over }) => !over)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test('exceeds its limit by at most one answer per request in flight', async () => {
    const costs = fc.array(fc.record({ usd: cents(90), estimated: cents(40), width: fc.nat(5) }), {
      minLength: 1,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(costs, cents(300), async (requests, cap) => {
        const root = budgetOf(cap);
        const agents = [root, root.share(NO_CAPS), root.share(NO_CAPS).share(NO_CAPS)];
        const inFlight: { reservation: Reservation; usd: number }[] = [];
        let allowed: number | undefined;
        const settleFirst = () => {
          const before = inFlight.reduce((sum, { usd }) => sum + usd, 0);
          const request = inFlight.shift();
          request?.reservation.settle(cost(request.usd));
          if ((root.spent ?? 0) >= cap) allowed ??= before;
        };
        for (const { usd, estimated, width } of requests) {
          while (inFlight.length > width) settleFirst();
          const asking = agents[width % 3]?.reserve(need(estimated), never);
          for (;;) {
            const answer = await peek(asking as Promise<Reservation | Stop>);
            if (answer !== 'waits') {
              if (!isStop(answer)) inFlight.push({ reservation: answer, usd });
              break;
            }
            settleFirst();
          }
        }
        while (inFlight.length > 0) settleFirst();
        expect(root.overshoot.usd).toBeLessThanOrEqual((allowed ?? 0) + 1e-6);
        expect(root.overshoot.usd).toBeCloseTo(Math.max(0, (root.spent ?? 0) - cap), 6);
      }),
      { numRuns: 60 },
    );
  });
});
