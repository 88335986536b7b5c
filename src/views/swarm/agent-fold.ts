/** One agent of a swarm as its events tell it. Values of events are not trusted to be what they say. */

import { isWaitedFor } from '../../protocol/agent/swarm.js';
import type { WaitReason } from '../../protocol/model/queueing.js';
import type { SwarmEvent } from '../../protocol/session/events.js';
import { AgentFigures } from './agent-figures.js';
import {
  type Identity,
  LEAD_IDENTITY,
  originIdentity,
  requestedIdentity,
  textOr,
} from './agent-identity.js';
import { OpenCallsView, waitReasonOf } from './open-calls-view.js';

/** The states of the design that events can tell apart, and two of those who do not work yet. */
export type ObservedState =
  | 'queued'
  | 'waiting'
  | 'streaming'
  | 'tool-running'
  | 'awaiting-permission'
  | 'compacting'
  | 'retrying'
  | 'idle'
  | 'stopped';

/** `between` is told apart by what its calls do. */
type Phase = Exclude<ObservedState, 'tool-running' | 'awaiting-permission'> | 'between';

/** Why the last attempt came to nothing. */
export interface SeenFailure {
  /** Of the failure, as the model's side calls it; null of a defect of ours. */
  readonly kind: string | null;
  readonly message: string;
}

/** It waits for another agent to be done with the same working tree. */
export interface SeenLock {
  readonly place: string;
  readonly holder: string | null;
  readonly since: number;
}

export class AgentFold {
  readonly id: string;
  parent: string | null;
  identity: Identity = LEAD_IDENTITY;
  model: string | null = null;
  readonly figures = new AgentFigures();
  readonly calls = new OpenCallsView();
  /** Agents at work that report to it, and that no call of its waits for. */
  readonly expected = new Set<string>();
  stop: { readonly reason: string; readonly detail: string | null } | null = null;
  readonly since: number;
  lastActiveAt: number;
  endedAt: number | null = null;
  /** It has a record of its own. */
  isSpawned = false;
  /** Why it tries again, while it does. */
  failure: SeenFailure | null = null;
  lock: SeenLock | null = null;
  /** What it is queued for; null where nobody has said. */
  awaits: 'place' | 'worker' | null = null;
  /** When its present phase began. */
  phaseSince: number;
  private ownVersion = 0;
  private phase: Phase = 'idle';
  /** What it goes back to after a question beside the conversation. */
  private aside: { readonly phase: Phase; readonly since: number } | null = null;
  private wait: WaitReason | null = null;
  private ownRefusal: string | null = null;
  private wantsTools = false;
  /** It said its last word and waits for those that work for it, or for a hook. */
  private hasAnswered = false;
  /** It begins with records of another session, which paid for them, until its next epoch. */
  private isCopy = false;

  constructor(id: string, parent: string | null, ts: number) {
    this.id = id;
    this.parent = parent;
    this.since = ts;
    this.lastActiveAt = ts;
    this.phaseSince = ts;
  }

  /** In the same place, and on its own from here on. */
  copy(): AgentFold {
    const { figures, calls, expected } = this;
    const own = { figures: figures.copy(), calls: calls.copy(), expected: new Set(expected) };
    const twin = Object.assign(new AgentFold(this.id, this.parent, this.since), this, own);
    [twin.ownVersion, twin.phase, twin.aside] = [this.ownVersion, this.phase, this.aside];
    [twin.wait, twin.ownRefusal, twin.isCopy] = [this.wait, this.ownRefusal, this.isCopy];
    [twin.wantsTools, twin.hasAnswered] = [this.wantsTools, this.hasAnswered];
    return twin;
  }

  /** Another one whenever something about it may be. */
  get version(): number {
    return this.ownVersion;
  }

  /** A priority: the stream, then what executes, then what cannot go on without an answer. */
  get state(): ObservedState {
    if (this.phase !== 'between') return this.phase;
    if (this.calls.running.size > 0) return 'tool-running';
    if (this.calls.questions.size > 0) return 'awaiting-permission';
    if (this.wantsTools) return 'tool-running';
    return this.hasAnswered ? 'idle' : 'streaming';
  }

  /** A request of its own is out: nothing is told until it is answered. */
  get isAsking(): boolean {
    return this.phase === 'streaming' || this.phase === 'compacting';
  }

  /** What its next request waits for, while it does. */
  get waitsFor(): WaitReason | null {
    return this.phase === 'waiting' ? this.wait : null;
  }

  /** Why whoever was given it last could not work on it; null since somebody can. */
  get refusal(): string | null {
    return this.ownRefusal;
  }

  /** No run is under way. */
  get isResting(): boolean {
    return (this.aside?.phase ?? this.phase) === 'idle';
  }

  /** It works, and its parent hears of its end in a letter. */
  get isExpected(): boolean {
    const { kind } = this.identity;
    if (kind === 'lead' || isWaitedFor(kind) || this.phase === 'stopped') return false;
    return kind !== 'teammate' || !this.isResting;
  }

  /** Its parent has asked for it. */
  request(event: SwarmEvent, depth: number): void {
    this.ownVersion += 1;
    this.enter('queued', event.ts);
    this.identity = requestedIdentity(event, depth);
  }

  /** One that reports to it has begun to work, or does not any more; or is called something else. */
  expect(child: string, isAtWork: boolean): void {
    this.ownVersion += 1;
    if (isAtWork) this.expected.add(child);
    else this.expected.delete(child);
  }

  /** Its own event, or its parent's while it has none. */
  awaitLock({ ts, place, holder }: SwarmEvent): void {
    this.ownVersion += 1;
    this.lock = { place: textOr(place, ''), holder: textOr(holder, null), since: ts };
  }

  take(event: SwarmEvent): void {
    const { ts } = event;
    this.ownVersion += 1;
    this.lastActiveAt = Math.max(this.lastActiveAt, ts);
    this.figures.take(event);
    switch (event.type) {
      case 'agent.spawned':
        this.spawned(event);
        break;
      case 'agent.queued':
        this.queued(event);
        break;
      case 'agent.restarted':
        this.calls.clear();
        this.failure = { kind: null, message: textOr(event.reason, '') };
        this.enter('retrying', ts);
        break;
      case 'epoch.began':
        this.ownRefusal = null;
        this.taken(event);
        break;
      case 'run.started':
        // One that is taken up again may wait for a person or for its agents, as before.
        this.begin('between', ts);
        break;
      case 'message.sent':
        this.hasAnswered = false;
        break;
      case 'turn.started':
        this.begin('streaming', ts);
        this.model = textOr(event.model, this.model);
        break;
      case 'turn.ended':
        this.enter('between', ts);
        this.wantsTools = event.stopReason === 'tool_use';
        this.hasAnswered = event.stopReason === 'end_turn';
        break;
      case 'turn.failed':
        this.failure = { kind: textOr(event.kind, null), message: textOr(event.message, '') };
        this.enter('retrying', ts);
        break;
      case 'request.queued':
      case 'consultation.started':
      case 'consultation.ended':
        this.takeRequest(event);
        break;
      case 'lock.awaited':
        if (typeof event.child !== 'string') this.awaitLock(event);
        break;
      case 'worktree.settled':
        this.lock = null;
        break;
      case 'run.ended':
      case 'agent.stopped':
        this.end(event);
        break;
      default:
        this.takeCall(event);
    }
  }

  private takeCall(event: SwarmEvent): void {
    if (!this.calls.take(event)) return;
    if (event.type === 'tool.ended' && this.calls.isEmpty) this.wantsTools = false;
  }

  /** What a call asks of a model is part of the call, which runs. */
  private takeRequest(event: SwarmEvent): void {
    const { type, ts, why, purpose } = event;
    if (this.calls.take(event)) return;
    if (type === 'request.queued') {
      this.wait = waitReasonOf(why);
      if (purpose === 'turn') this.begin('waiting', ts);
      else this.step('waiting', ts);
    } else if (type === 'consultation.started') {
      this.step(purpose === 'summary' ? 'compacting' : 'streaming', ts);
    } else if (this.aside !== null) this.enter(this.aside.phase, this.aside.since);
    else if (this.phase === 'waiting') this.enter('between', ts);
  }

  private spawned({ model, origin, forkedFrom }: SwarmEvent): void {
    this.isSpawned = true;
    this.lock = null;
    this.isCopy = forkedFrom !== undefined;
    this.model = textOr(model, null);
    this.identity = originIdentity(origin) ?? this.identity;
  }

  private queued({ ts, reason, worker, awaits }: SwarmEvent): void {
    const isRefused = typeof worker === 'string';
    this.enter('queued', ts);
    [this.stop, this.endedAt] = [null, null];
    this.ownRefusal = isRefused ? textOr(reason, null) : null;
    this.awaits = isRefused || awaits === 'worker' ? 'worker' : 'place';
  }

  /** By a process that finds out for itself what is still to be done. */
  private taken({ epoch, ts }: SwarmEvent): void {
    this.calls.clear();
    this.lock = null;
    if (this.phase === 'stopped') this.enter('idle', ts);
    if (!this.isCopy || !(Number(epoch) > 1)) return;
    this.isCopy = false;
    this.figures.beginAnew();
  }

  private begin(phase: 'between' | 'waiting' | 'streaming', ts: number): void {
    this.enter(phase, ts);
    this.wantsTools = false;
    [this.stop, this.endedAt] = [null, null];
  }

  private enter(phase: Phase, ts: number): void {
    if (phase !== 'retrying') this.failure = null;
    if (phase !== 'queued') this.awaits = null;
    this.phase = phase;
    this.aside = null;
    this.phaseSince = ts;
  }

  /** Aside, for a question beside the conversation. */
  private step(phase: 'waiting' | 'compacting' | 'streaming', ts: number): void {
    this.aside ??= { phase: this.phase, since: this.phaseSince };
    this.phase = phase;
    this.phaseSince = ts;
  }

  private end({ type, ts, reason, detail }: SwarmEvent): void {
    this.enter(type === 'run.ended' ? 'idle' : 'stopped', ts);
    this.stop = { reason: textOr(reason, 'unknown'), detail: textOr(detail, null) };
    this.endedAt = type === 'run.ended' ? null : ts;
    this.calls.forget();
  }
}
