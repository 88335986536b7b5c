/**
 * Fills the slot `nursery` of the leader: knows who waits for a place, and starts them in the order in
 * which they came. An agent that waits for a child of its own lends it its place; one that rests leaves
 * it to anybody.
 */
import { type Actor, createActor, fromCallback } from 'xstate';
import { leaderMachine } from '../../machines/leader-machine.js';
import type {
  LeaderEvent,
  Refusal,
  SchedulerOrder,
  SwarmLimits,
} from '../../protocol/agent/leader.js';

/** One that wants a place. */
export interface Candidate {
  readonly id: string;
  readonly depth: number;
  /** The agent that waits for it and has a place to lend; undefined when none does. */
  readonly lender: string | undefined;
  /** False for one that is taken up again: it was counted when it began. */
  readonly isNew: boolean;
  start(): void;
}

export type Admission = 'started' | 'queued' | { readonly refused: Refusal };

export class AgentScheduler {
  private readonly leader: Actor<typeof leaderMachine>;
  /** In the order in which they came. */
  private readonly waiting = new Map<string, Candidate>();
  private readonly waitingBelow = new Map<string, Set<string>>();
  /** Started and not gone. */
  private readonly live = new Set<string>();
  /** Who has lent its place, and to whom. */
  private readonly loans = new Map<string, string>();
  private readonly lenders = new Map<string, string>();
  /** Who rests, and for how many reasons. */
  private readonly rests = new Map<string, number>();
  /** Those of them that have left their place to others. */
  private readonly placeless = new Set<string>();
  private newcomer: Candidate | undefined;
  private verdict: Admission = 'queued';
  private chosen: Candidate | undefined;

  constructor(limits: SwarmLimits) {
    const nursery = fromCallback<SchedulerOrder, undefined>(({ receive }) => {
      receive((order) => this.obey(order));
    });
    this.leader = createActor(leaderMachine.provide({ actors: { nursery } }), { input: limits });
    this.leader.start();
  }

  /** Starts it at once, lets it wait, or says why it may do neither. */
  admit(newcomer: Candidate): Admission {
    const { id, depth, lender, isNew } = newcomer;
    const borrows = lender !== undefined && this.live.has(lender) && this.hasPlace(lender);
    if (borrows) this.lend(lender, id);
    this.newcomer = newcomer;
    const chosen = this.ask({ type: 'agent.spawn', id, depth, isNew, borrows });
    this.newcomer = undefined;
    const { verdict } = this;
    if (borrows && typeof verdict === 'object') this.takeBack(id);
    this.start(chosen);
    return verdict;
  }

  /** It has ended, or will not start after all: its place is somebody else's. Harmless when it is gone. */
  leave(id: string): void {
    const waiting = this.waiting.get(id);
    if (waiting !== undefined) {
      this.forget(waiting);
      this.ask({ type: 'agent.withdraw' });
    } else if (this.live.delete(id)) {
      this.waitingBelow.delete(id);
      this.rests.delete(id);
      // Whoever lent it the place wants it back.
      this.resume(id);
      this.start(this.passOn(id));
    }
  }

  /** It waits for others, and somebody else may have its place meanwhile. Ends with as many `wake`s. */
  rest(id: string): void {
    if (!this.live.has(id)) return;
    this.rests.set(id, (this.rests.get(id) ?? 0) + 1);
    if (this.hasPlace(id)) this.start(this.giveUp(id));
  }

  /** It goes on, whether there is a place or not. Harmless when it has gone. */
  wake(id: string): void {
    const reasons = (this.rests.get(id) ?? 0) - 1;
    if (reasons > 0) this.rests.set(id, reasons);
    else if (this.rests.delete(id) && this.resume(id)) this.start(this.startBelow(id));
  }

  /** A new run of the lead: what it may spawn is counted anew. */
  beginRun(): void {
    this.ask({ type: 'run.begin' });
  }

  /** A run goes on that a process died in: so many were spawned in it. */
  goOn(spawned: number): void {
    this.ask({ type: 'run.resume', spawned });
  }

  close(): void {
    this.ask({ type: 'swarm.close' });
    this.waiting.clear();
  }

  get limits(): SwarmLimits {
    return this.leader.getSnapshot().context.limits;
  }

  /** Returns who may start now. Nobody is started before the leader has counted, or it would count wrong. */
  private ask(event: LeaderEvent): Candidate | undefined {
    this.leader.send(event);
    const { chosen } = this;
    this.chosen = undefined;
    return chosen;
  }

  private start(newcomer: Candidate | undefined): void {
    if (newcomer === undefined) return;
    this.live.add(newcomer.id);
    newcomer.start();
  }

  private obey(order: SchedulerOrder): void {
    switch (order.type) {
      case 'child.start':
        this.verdict = 'started';
        this.chosen = this.newcomer;
        break;
      case 'child.queue':
        this.verdict = 'queued';
        if (this.newcomer !== undefined) this.keep(this.newcomer);
        break;
      case 'child.refuse':
        this.verdict = { refused: order.why };
        break;
      case 'child.next':
        [this.chosen] = this.waiting.values();
        if (this.chosen !== undefined) this.forget(this.chosen);
    }
  }

  /** Returns who starts in the place of one that has gone. */
  private passOn(id: string): Candidate | undefined {
    const lender = this.takeBack(id);
    const borrower = this.loans.get(id);
    if (borrower !== undefined) {
      // It went before the one that had its place, which keeps it.
      this.takeBack(borrower);
      if (lender !== undefined) this.lend(lender, borrower);
      return undefined;
    }
    if (lender === undefined) return this.ask({ type: 'agent.stopped', borrowed: false });
    const next = this.startBelow(lender);
    if (next !== undefined) return next;
    this.ask({ type: 'agent.stopped', borrowed: true });
    return this.rests.has(lender) ? this.giveUp(lender) : undefined;
  }

  /** Neither lent nor left to others. */
  private hasPlace(id: string): boolean {
    return !this.loans.has(id) && !this.placeless.has(id);
  }

  /** Returns who starts in its place. */
  private giveUp(id: string): Candidate | undefined {
    this.placeless.add(id);
    return this.ask({ type: 'agent.rested' });
  }

  /** False when it had a place all along. */
  private resume(id: string): boolean {
    const hadNone = this.placeless.delete(id);
    if (hadNone) this.ask({ type: 'agent.woken' });
    return hadNone;
  }

  /** Returns the child that starts in the place of one that waits for it; undefined when none does. */
  private startBelow(lender: string): Candidate | undefined {
    const next = this.nextBelow(lender);
    if (next === undefined) return undefined;
    this.lend(lender, next.id);
    this.forget(next);
    this.ask({ type: 'agent.withdraw' });
    return next;
  }

  private keep(newcomer: Candidate): void {
    const { id, lender } = newcomer;
    this.waiting.set(id, newcomer);
    if (lender === undefined) return;
    const below = this.waitingBelow.get(lender) ?? new Set();
    this.waitingBelow.set(lender, below.add(id));
  }

  private forget({ id, lender }: Candidate): void {
    this.waiting.delete(id);
    if (lender === undefined) return;
    const below = this.waitingBelow.get(lender);
    below?.delete(id);
    if (below?.size === 0) this.waitingBelow.delete(lender);
  }

  private nextBelow(lender: string): Candidate | undefined {
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
