/**
 * Hosts the leader machine and knows the children that the machine only counts: the queue, and the slots that
 * parents have lent. Queued children start in the order of their arrival. A parent that waits for its
 * child lends the child its slot; an idle agent releases its slot to any queued child.
 */
import type { AdmissionRefusal } from '../../machines/decide-admission.js';
import {
  type ChildCrash,
  type LeaderEffect,
  type LeaderEvent,
  leaderMachine,
} from '../../machines/leader-machine.js';
import { MachineState } from '../../machines/machine-state.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { SwarmLimits } from '../../protocol/agent/swarm-limits.js';

/** A child that needs a concurrency slot. */
export interface Candidate {
  readonly id: string;
  readonly depth: number;
  /** Parent that waits for the child and can lend its slot. Undefined if there is none. */
  readonly lender: string | undefined;
  /** False for a restarted agent: its spawn was counted before. */
  readonly isNew: boolean;
  start(): void;
}

export type Admission = 'started' | 'queued' | { readonly refused: AdmissionRefusal };

/** Decision of the leader about a crash or a stop. */
export type Supervision = Extract<
  LeaderEffect,
  { readonly type: 'restartChild' | 'failChild' | 'stopSubtree' }
>;

export class AgentScheduler {
  private readonly leader: MachineState<typeof leaderMachine, LeaderEffect>;
  /** Queued children in the order of their arrival. */
  private readonly queued = new Map<string, Candidate>();
  /** Queued children by the parent that would lend its slot. */
  private readonly queuedBelow = new Map<string, Set<string>>();
  /** Started children that have not left. */
  private readonly live = new Set<string>();
  /** Borrower by lender, and lender by borrower. */
  private readonly loans = new Map<string, string>();
  private readonly lenders = new Map<string, string>();
  /** Agents that wait for others, with their number of open `lendSlot` calls. */
  private readonly waiting = new Map<string, number>();
  /** Waiting agents that have released their slot. */
  private readonly withoutSlot = new Set<string>();

  constructor(limits: SwarmLimits) {
    this.leader = new MachineState(leaderMachine, limits);
  }

  /** Starts the child, queues it, or returns the reason for a refusal. */
  admit(candidate: Candidate): Admission {
    const { id, depth, lender, isNew } = candidate;
    const borrowsSlot = lender !== undefined && this.live.has(lender) && this.hasSlot(lender);
    const [effect] = this.send({ type: 'child.spawn', id, depth, isNew, borrowsSlot });
    if (effect?.type === 'refuseChild') return { refused: effect.params.why };
    if (effect?.type === 'queueChild') {
      this.enqueue(candidate);
      return 'queued';
    }
    if (borrowsSlot) this.lend(lender, id);
    this.start(candidate);
    return 'started';
  }

  /** Frees the slot of a child that ended or will not start. Idempotent. */
  leave(id: string): void {
    const candidate = this.queued.get(id);
    if (candidate !== undefined) {
      this.dequeue(candidate);
      this.send({ type: 'queue.left' });
    } else if (this.live.delete(id)) {
      this.queuedBelow.delete(id);
      this.waiting.delete(id);
      // A lender wants its slot back, so the child must hold it again before it passes it on.
      this.regainSlot(id);
      this.start(this.passSlotOn(id));
    }
  }

  /** Releases the slot of an agent that waits for others, until the same number of `retakeSlot` calls. */
  lendSlot(id: string): void {
    if (!this.live.has(id)) return;
    this.waiting.set(id, (this.waiting.get(id) ?? 0) + 1);
    if (this.hasSlot(id)) this.start(this.releaseSlot(id));
  }

  /** Gives a waiting agent its slot back, over the limit if need be. Idempotent once the agent has left. */
  retakeSlot(id: string): void {
    const open = (this.waiting.get(id) ?? 0) - 1;
    if (open > 0) this.waiting.set(id, open);
    else if (this.waiting.delete(id) && this.regainSlot(id)) this.start(this.startBelow(id));
  }

  /** Starts a new run of the lead: spawns are counted from zero. */
  beginRun(): void {
    this.send({ type: 'run.begin' });
  }

  /** Resumes a run of a dead process in which `spawned` children were spawned. */
  resumeRun(spawned: number): void {
    this.send({ type: 'run.resume', spawned });
  }

  /** Returns the decision of the restart policy. Undefined after `close`. */
  superviseCrash(crash: Omit<ChildCrash, 'type'>): Supervision | undefined {
    return supervisionIn(this.send({ type: 'child.crashed', ...crash }));
  }

  /** Returns the stop for an agent and its subtree. Undefined after `close`. */
  superviseStop(id: string, stop: Stop, isParentStopped: boolean): Supervision | undefined {
    return supervisionIn(this.send({ type: 'child.stop', id, stop, isParentStopped }));
  }

  close(): void {
    this.send({ type: 'swarm.close' });
    this.queued.clear();
  }

  get limits(): SwarmLimits {
    return this.leader.context.limits;
  }

  private send(event: LeaderEvent): readonly LeaderEffect[] {
    return this.leader.send(event);
  }

  private start(candidate: Candidate | undefined): void {
    if (candidate === undefined) return;
    this.live.add(candidate.id);
    candidate.start();
  }

  /** Returns the child that starts in the slot of a child that has left. */
  private passSlotOn(id: string): Candidate | undefined {
    const lender = this.takeBack(id);
    const borrower = this.loans.get(id);
    if (borrower !== undefined) {
      // The lender left before the borrower, which keeps the slot.
      this.takeBack(borrower);
      if (lender !== undefined) this.lend(lender, borrower);
      return undefined;
    }
    if (lender === undefined) return this.nextFor({ type: 'slot.released' });
    const next = this.startBelow(lender);
    if (next !== undefined) return next;
    return this.waiting.has(lender) ? this.releaseSlot(lender) : undefined;
  }

  /** True if the agent has neither lent nor released its slot. */
  private hasSlot(id: string): boolean {
    return !this.loans.has(id) && !this.withoutSlot.has(id);
  }

  /** Returns the queued child that starts in the released slot. */
  private releaseSlot(id: string): Candidate | undefined {
    this.withoutSlot.add(id);
    return this.nextFor({ type: 'slot.released' });
  }

  /** Returns false if the agent had its slot all the time. */
  private regainSlot(id: string): boolean {
    const hadNone = this.withoutSlot.delete(id);
    if (hadNone) this.send({ type: 'slot.retaken' });
    return hadNone;
  }

  /** Returns the child that the leader starts after the event: the one that has waited longest. */
  private nextFor(event: LeaderEvent): Candidate | undefined {
    const [effect] = this.send(event);
    if (effect?.type !== 'startNextChild') return undefined;
    const [next] = this.queued.values();
    if (next !== undefined) this.dequeue(next);
    return next;
  }

  /** Returns the queued child that starts in the slot of its waiting parent. */
  private startBelow(lender: string): Candidate | undefined {
    const [id = ''] = this.queuedBelow.get(lender) ?? [];
    const next = this.queued.get(id);
    if (next === undefined) return undefined;
    this.lend(lender, next.id);
    this.dequeue(next);
    this.send({ type: 'queue.left' });
    return next;
  }

  private enqueue(candidate: Candidate): void {
    const { id, lender } = candidate;
    this.queued.set(id, candidate);
    if (lender === undefined) return;
    const below = this.queuedBelow.get(lender) ?? new Set();
    this.queuedBelow.set(lender, below.add(id));
  }

  private dequeue({ id, lender }: Candidate): void {
    this.queued.delete(id);
    if (lender === undefined) return;
    const below = this.queuedBelow.get(lender);
    below?.delete(id);
    if (below?.size === 0) this.queuedBelow.delete(lender);
  }

  private lend(lender: string, borrower: string): void {
    this.loans.set(lender, borrower);
    this.lenders.set(borrower, lender);
  }

  /** Returns the lender whose slot the borrower had. Undefined if the slot was its own. */
  private takeBack(borrower: string): string | undefined {
    const lender = this.lenders.get(borrower);
    if (lender === undefined) return undefined;
    this.lenders.delete(borrower);
    this.loans.delete(lender);
    return lender;
  }
}

const supervisionIn = ([effect]: readonly LeaderEffect[]): Supervision | undefined =>
  effect?.type === 'restartChild' || effect?.type === 'failChild' || effect?.type === 'stopSubtree'
    ? effect
    : undefined;
