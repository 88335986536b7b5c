/**
 * Fills the slot `nursery` of the leader: knows who waits for a place, and starts them in the order in
 * which they came. An agent that waits for a child of its own lends it its place.
 */
import { type Actor, createActor, fromCallback } from 'xstate';
import { leaderMachine } from '../machines/leader-machine.js';
import type { NurseryOrder, SwarmLimits } from '../protocol/leader.js';

/** One that wants a place. */
export interface Newcomer {
  readonly id: string;
  readonly depth: number;
  /** The agent that waits for it and has a place to lend; undefined when none does. */
  readonly lender: string | undefined;
  /** False for one that is taken up again: it was counted when it began. */
  readonly isNew: boolean;
  start(): void;
}

export type Admission = 'started' | 'queued' | { readonly refused: 'depth' | 'total' | 'over' };

export class Nursery {
  private readonly leader: Actor<typeof leaderMachine>;
  /** In the order in which they came. */
  private readonly waiting = new Map<string, Newcomer>();
  private readonly waitingBelow = new Map<string, Set<string>>();
  /** Who has lent its place, and to whom. */
  private readonly loans = new Map<string, string>();
  private readonly lenders = new Map<string, string>();
  private newcomer: Newcomer | undefined;
  private verdict: Admission = 'queued';

  constructor(limits: SwarmLimits) {
    const nursery = fromCallback<NurseryOrder, undefined>(({ receive }) => {
      receive((order) => this.obey(order));
    });
    this.leader = createActor(leaderMachine.provide({ actors: { nursery } }), { input: limits });
    this.leader.start();
  }

  /** Starts it at once, lets it wait, or says why it may do neither. */
  admit(newcomer: Newcomer): Admission {
    const { id, depth, lender, isNew } = newcomer;
    const borrows = lender !== undefined && !this.loans.has(lender);
    if (borrows) this.lend(lender, id);
    this.newcomer = newcomer;
    this.leader.send({ type: 'agent.spawn', id, depth, isNew, borrows });
    this.newcomer = undefined;
    if (borrows && typeof this.verdict === 'object') this.takeBack(id);
    return this.verdict;
  }

  /** It has ended, or will not start after all: its place is somebody else's. */
  leave(id: string): void {
    const waiting = this.waiting.get(id);
    if (waiting !== undefined) {
      this.forget(waiting);
      this.leader.send({ type: 'agent.withdraw' });
      return;
    }
    const lender = this.takeBack(id);
    const next = lender === undefined ? undefined : this.nextBelow(lender);
    if (lender === undefined || next === undefined) {
      this.leader.send({ type: 'agent.stopped', borrowed: lender !== undefined });
      return;
    }
    this.lend(lender, next.id);
    this.forget(next);
    this.leader.send({ type: 'agent.withdraw' });
    next.start();
  }

  /** A new run of the lead: what it may spawn is counted anew. */
  beginRun(): void {
    this.leader.send({ type: 'run.begin' });
  }

  close(): void {
    this.leader.send({ type: 'swarm.close' });
    this.waiting.clear();
  }

  get limits(): SwarmLimits {
    return this.leader.getSnapshot().context.limits;
  }

  private obey(order: NurseryOrder): void {
    switch (order.type) {
      case 'child.start':
        this.verdict = 'started';
        this.newcomer?.start();
        break;
      case 'child.queue':
        this.verdict = 'queued';
        if (this.newcomer !== undefined) this.keep(this.newcomer);
        break;
      case 'child.refuse':
        this.verdict = { refused: order.why };
        break;
      case 'child.next': {
        const [next] = this.waiting.values();
        if (next === undefined) break;
        this.forget(next);
        next.start();
      }
    }
  }

  private keep(newcomer: Newcomer): void {
    const { id, lender } = newcomer;
    this.waiting.set(id, newcomer);
    if (lender === undefined) return;
    const below = this.waitingBelow.get(lender) ?? new Set();
    this.waitingBelow.set(lender, below.add(id));
  }

  private forget({ id, lender }: Newcomer): void {
    this.waiting.delete(id);
    if (lender === undefined) return;
    const below = this.waitingBelow.get(lender);
    below?.delete(id);
    if (below?.size === 0) this.waitingBelow.delete(lender);
  }

  private nextBelow(lender: string): Newcomer | undefined {
    const [id = ''] = this.waitingBelow.get(lender) ?? [];
    return this.waiting.get(id);
  }

  private lend(lender: string, borrower: string): void {
    this.loans.set(lender, borrower);
    this.lenders.set(borrower, lender);
  }

  /** Returns whose place it had; undefined when it was its own. */
  private takeBack(borrower: string): string | undefined {
    const lender = this.lenders.get(borrower);
    if (lender === undefined) return undefined;
    this.lenders.delete(borrower);
    this.loans.delete(lender);
    return lender;
  }
}
