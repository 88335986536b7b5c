/** Folds the events of one agent. Values of events come from disk and are not trusted. */

import { textOr } from '../../lib/text/text-or.js';
import { isWaitedFor } from '../../protocol/agent/agent-tag.js';
import type { WaitReason } from '../../protocol/model/governor.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { AgentFigures } from './agent-figures.js';
import {
  type AgentIdentity,
  LEAD_IDENTITY,
  originIdentity,
  requestedIdentity,
} from './agent-identity.js';
import { OpenCallsView, waitReasonOf } from './open-calls-view.js';

/** States that events can tell apart: those of the machine, and `queued` and `waiting`. */
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

/** `between`: the state depends on the open calls. */
type Phase = Exclude<ObservedState, 'tool-running' | 'awaiting-permission'> | 'between';

/** Reason of the last failed attempt. */
interface ObservedFailure {
  /** Failure kind of the model request. Null for a crash of the agent. */
  readonly kind: string | null;
  readonly message: string;
}

/** The agent waits for another agent's lock on a working tree. */
interface ObservedLock {
  readonly place: string;
  readonly holder: string | null;
  readonly since: number;
}

export class AgentFold {
  readonly id: string;
  parent: string | null;
  identity: AgentIdentity = LEAD_IDENTITY;
  model: string | null = null;
  readonly figures = new AgentFigures();
  readonly calls = new OpenCallsView();
  /** Running children that no call of this agent waits for. */
  readonly pendingChildren = new Set<string>();
  stop: { readonly reason: string; readonly detail: string | null } | null = null;
  readonly since: number;
  lastActiveAt: number;
  endedAt: number | null = null;
  /** True if the agent has a journal record. */
  isSpawned = false;
  /** Reason of the current retry. */
  failure: ObservedFailure | null = null;
  lock: ObservedLock | null = null;
  /** What the queued agent waits for. Null if unknown. */
  awaits: 'place' | 'worker' | null = null;
  /** Start of the current phase, milliseconds since 1970. */
  phaseSince: number;
  private versionNumber = 0;
  private phase: Phase = 'idle';
  /** Phase to return to after a side request. */
  private aside: { readonly phase: Phase; readonly since: number } | null = null;
  private wait: WaitReason | null = null;
  private lastRefusal: string | null = null;
  private wantsTools = false;
  /** True if the model has ended its turn, and the agent waits for children or hooks. */
  private hasAnswered = false;
  /** True until the next epoch if the agent starts with records of another session, which paid for them. */
  private isCopy = false;

  constructor(id: string, parent: string | null, ts: number) {
    this.id = id;
    this.parent = parent;
    this.since = ts;
    this.lastActiveAt = ts;
    this.phaseSince = ts;
  }

  /** Returns an independent copy. */
  copy(): AgentFold {
    const own = {
      figures: this.figures.copy(),
      calls: this.calls.copy(),
      pendingChildren: new Set(this.pendingChildren),
    };
    const twin = Object.assign(new AgentFold(this.id, this.parent, this.since), this, own);
    [twin.versionNumber, twin.phase, twin.aside] = [this.versionNumber, this.phase, this.aside];
    [twin.wait, twin.lastRefusal, twin.isCopy] = [this.wait, this.lastRefusal, this.isCopy];
    [twin.wantsTools, twin.hasAnswered] = [this.wantsTools, this.hasAnswered];
    return twin;
  }

  /** Changes whenever the view of the agent may change. */
  get version(): number {
    return this.versionNumber;
  }

  /** State by priority: an open stream, then running calls, then open questions. */
  get state(): ObservedState {
    if (this.phase !== 'between') return this.phase;
    if (this.calls.running.size > 0) return 'tool-running';
    if (this.calls.questions.size > 0) return 'awaiting-permission';
    if (this.wantsTools) return 'tool-running';
    return this.hasAnswered ? 'idle' : 'streaming';
  }

  /** True while a model request is open. No event arrives before it ends. */
  get hasOpenRequest(): boolean {
    return this.phase === 'streaming' || this.phase === 'compacting';
  }

  /** Reason why the next request waits, or null. */
  get waitsFor(): WaitReason | null {
    return this.phase === 'waiting' ? this.wait : null;
  }

  /** Why the last worker could not run the agent. Null after a process has taken the agent. */
  get refusal(): string | null {
    return this.lastRefusal;
  }

  /** True if no run is in progress. */
  get isIdle(): boolean {
    return (this.aside?.phase ?? this.phase) === 'idle';
  }

  /** True if the agent runs and will report to its parent by letter. */
  get isPendingChild(): boolean {
    const { kind } = this.identity;
    if (kind === 'lead' || isWaitedFor(kind) || this.phase === 'stopped') return false;
    return kind !== 'teammate' || !this.isIdle;
  }

  /** Handles the parent's `agent.requested`. */
  request(event: SwarmEvent, depth: number): void {
    this.versionNumber += 1;
    this.enter('queued', event.ts);
    this.identity = requestedIdentity(event, depth);
  }

  /** Called when a child that reports by letter starts, ends, or gets another name. */
  setPendingChild(child: string, isRunning: boolean): void {
    this.versionNumber += 1;
    if (isRunning) this.pendingChildren.add(child);
    else this.pendingChildren.delete(child);
  }

  /** Handles `lock.awaited` of the agent, or of its parent if the agent has no journal yet. */
  awaitLock({ ts, place, holder }: SwarmEvent): void {
    this.versionNumber += 1;
    this.lock = { place: textOr(place, ''), holder: textOr(holder, null), since: ts };
  }

  take(event: SwarmEvent): void {
    const { ts } = event;
    this.versionNumber += 1;
    this.lastActiveAt = Math.max(this.lastActiveAt, ts);
    this.figures.take(event);
    switch (event.type) {
      case 'agent.spawned':
        this.recordSpawn(event);
        break;
      case 'agent.queued':
        this.recordQueued(event);
        break;
      case 'agent.restarted':
        this.calls.clear();
        this.failure = { kind: null, message: textOr(event.reason, '') };
        this.enter('retrying', ts);
        break;
      case 'epoch.began':
        this.lastRefusal = null;
        this.recordTakeover(event);
        break;
      case 'run.started':
        // A resumed agent may still wait for a person or for its children.
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
        this.failure = {
          kind: textOr(event.kind, null),
          message: `attempt ${Number(event.attempt) || 1} failed: ${textOr(event.message, '')}`,
        };
        this.enter('retrying', ts);
        break;
      case 'retry.scheduled':
        this.recordRetry(event);
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

  /** A side request of a call belongs to the call, which counts as running. */
  private takeRequest(event: SwarmEvent): void {
    const { type, ts, why, purpose } = event;
    if (this.calls.take(event)) return;
    if (type === 'request.queued') {
      this.wait = waitReasonOf(why);
      if (purpose === 'turn') this.begin('waiting', ts);
      else this.enterAside('waiting', ts);
    } else if (type === 'consultation.started') {
      this.enterAside(purpose === 'summary' ? 'compacting' : 'streaming', ts);
    } else if (this.aside !== null) this.enter(this.aside.phase, this.aside.since);
    else if (this.phase === 'waiting') this.enter('between', ts);
  }

  private recordSpawn({ model, origin, forkedFrom }: SwarmEvent): void {
    this.isSpawned = true;
    this.lock = null;
    this.isCopy = forkedFrom !== undefined;
    this.model = textOr(model, null);
    this.identity = originIdentity(origin) ?? this.identity;
  }

  private recordQueued({ ts, reason, worker, awaits }: SwarmEvent): void {
    const isRefused = typeof worker === 'string';
    this.enter('queued', ts);
    [this.stop, this.endedAt] = [null, null];
    this.lastRefusal = isRefused ? textOr(reason, null) : null;
    this.awaits = isRefused || awaits === 'worker' ? 'worker' : 'place';
  }

  /** Handles `epoch.began`: the new process decides which calls to repeat. */
  private recordTakeover({ epoch, ts }: SwarmEvent): void {
    this.calls.clear();
    this.lock = null;
    if (this.phase === 'stopped') this.enter('idle', ts);
    if (!this.isCopy || !(Number(epoch) > 1)) return;
    this.isCopy = false;
    this.figures.resetSpending();
  }

  private recordRetry({ attempt, attempts, durationMs }: SwarmEvent): void {
    if (this.failure === null) return;
    const { kind, message } = this.failure;
    const seconds = Math.ceil(Number(durationMs) / 1000) || 0;
    const next = `attempt ${Number(attempt) || 0} of ${Number(attempts) || 0}, ${seconds} s after`;
    this.failure = { kind, message: `${next} ${message}` };
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

  /** Enters a phase for a side request. `aside` keeps the phase to return to. */
  private enterAside(phase: 'waiting' | 'compacting' | 'streaming', ts: number): void {
    this.aside ??= { phase: this.phase, since: this.phaseSince };
    this.phase = phase;
    this.phaseSince = ts;
  }

  private end({ type, ts, reason, detail }: SwarmEvent): void {
    this.enter(type === 'run.ended' ? 'idle' : 'stopped', ts);
    this.stop = { reason: textOr(reason, 'unknown'), detail: textOr(detail, null) };
    this.endedAt = type === 'run.ended' ? null : ts;
    this.calls.clearAll();
  }
}
