/** One agent of a swarm as its events tell it. Values of events are not trusted to be what they say. */
import { spendingOf } from '../context/event-spending.js';
import type { SwarmEvent } from '../protocol/events.js';
import { WAIT_REASONS, type WaitReason } from '../protocol/queueing.js';
import { CHILD_KINDS, type ChildKind } from '../protocol/swarm.js';
import { addUsage, NO_USAGE, type Usage } from '../protocol/usage.js';

/** The states of the design that events can tell apart; a compaction is seen when it is over. */
export type SeenState =
  | 'queued'
  | 'waiting'
  | 'streaming'
  | 'tool-running'
  | 'awaiting-permission'
  | 'retrying'
  | 'idle'
  | 'stopped';

export interface SeenCall {
  readonly call: string;
  readonly tool: string;
  readonly description: string;
  /** Milliseconds since 1970. */
  readonly since: number;
}

export interface SeenQuestion extends SeenCall {
  readonly question: string;
}

/** What it is known by: from its own first record, and before that from its parent's request. */
export interface Identity {
  readonly kind: 'lead' | ChildKind;
  readonly type: string | null;
  readonly name: string | null;
  readonly description: string;
  readonly depth: number;
}

/** `between` is told apart by what its calls do. */
type Phase = Exclude<SeenState, 'tool-running' | 'awaiting-permission'> | 'between';

const LEAD: Identity = { kind: 'lead', type: null, name: null, description: '', depth: 0 };

export class AgentFold {
  readonly id: string;
  parent: string | null;
  identity: Identity = LEAD;
  model: string | null = null;
  turns = 0;
  usage: Usage = NO_USAGE;
  /** USD; null once a price was not known. */
  cost: number | null = 0;
  readonly running = new Map<string, SeenCall>();
  /** By call: a call has one open question at most. */
  readonly questions = new Map<string, SeenQuestion>();
  stop: { readonly reason: string; readonly detail: string | null } | null = null;
  readonly since: number;
  lastActiveAt: number;
  endedAt: number | null = null;
  /** It has a record of its own. */
  isSpawned = false;
  #phase: Phase = 'idle';
  #wait: WaitReason | null = null;
  #refusal: string | null = null;
  #wantsTools = false;
  /** It said its last word and waits for those that work for it, or for a hook. */
  #hasAnswered = false;
  /** It begins with records of another session, which paid for them, until its next epoch. */
  #isCopy = false;

  constructor(id: string, parent: string | null, ts: number) {
    this.id = id;
    this.parent = parent;
    this.since = ts;
    this.lastActiveAt = ts;
  }

  /** A priority: the stream, then what executes, then what cannot go on without an answer. */
  get state(): SeenState {
    if (this.#phase !== 'between') return this.#phase;
    if (this.running.size > 0) return 'tool-running';
    if (this.questions.size > 0) return 'awaiting-permission';
    if (this.#wantsTools) return 'tool-running';
    return this.#hasAnswered ? 'idle' : 'streaming';
  }

  /** What its next request waits for, while it does. */
  get waitsFor(): WaitReason | null {
    return this.#phase === 'waiting' ? this.#wait : null;
  }

  /** Why whoever was given it last could not work on it; null since somebody can. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** No run is under way. */
  get isResting(): boolean {
    return this.#phase === 'idle';
  }

  /** Its parent has asked for it. */
  request(event: SwarmEvent, depth: number): void {
    this.#phase = 'queued';
    this.identity = {
      kind: kindOf(event.kind),
      type: textOr(event.agentType, null),
      name: null,
      description: textOr(event.description, ''),
      depth,
    };
  }

  take(event: SwarmEvent): void {
    this.lastActiveAt = Math.max(this.lastActiveAt, event.ts);
    switch (event.type) {
      case 'agent.spawned':
        this.#spawned(event);
        break;
      case 'agent.queued':
        [this.#phase, this.stop, this.endedAt] = ['queued', null, null];
        this.#refusal = typeof event.worker === 'string' ? textOr(event.reason, null) : null;
        break;
      case 'agent.restarted':
        this.#forgetCalls();
        this.#phase = 'retrying';
        break;
      case 'epoch.began':
        this.#refusal = null;
        this.#taken(event);
        break;
      case 'run.started':
        // One that is taken up again may wait for a person or for its agents, as before.
        this.#begin('between');
        break;
      case 'message.sent':
        this.#hasAnswered = false;
        break;
      case 'turn.started':
        this.#begin('streaming');
        this.model = textOr(event.model, this.model);
        break;
      case 'turn.ended':
        this.turns += 1;
        this.#spend(event);
        this.#phase = 'between';
        this.#wantsTools = event.stopReason === 'tool_use';
        this.#hasAnswered = event.stopReason === 'end_turn';
        break;
      case 'turn.failed':
        this.#spend(event);
        this.#phase = 'retrying';
        break;
      case 'request.queued':
        this.#hold(event);
        break;
      case 'consultation.ended':
        this.#spend(event);
        if (this.#phase === 'waiting' && event.call === null) this.#phase = 'between';
        break;
      case 'run.ended':
      case 'agent.stopped':
        this.#end(event);
        break;
      default:
        this.#takeCall(event);
    }
  }

  #takeCall(event: SwarmEvent): void {
    const call = textOr(event.call, '');
    const seen = {
      ...{ call, tool: textOr(event.tool, '?'), description: textOr(event.description, '') },
      since: event.ts,
    };
    if (event.type === 'permission.requested') {
      this.questions.set(call, { ...seen, question: textOr(event.question, '') });
    } else if (event.type === 'permission.ruled' && event.behavior !== 'ask') {
      this.questions.delete(call);
    } else if (event.type === 'tool.started') this.running.set(call, seen);
    else if (event.type === 'tool.ended') {
      this.questions.delete(call);
      this.running.delete(call);
      if (this.running.size === 0 && this.questions.size === 0) this.#wantsTools = false;
    }
  }

  #spawned({ model, origin, forkedFrom }: SwarmEvent): void {
    this.isSpawned = true;
    this.#isCopy = forkedFrom !== undefined;
    this.model = textOr(model, null);
    if (typeof origin !== 'object' || origin === null) return;
    const { kind, type, name, description, depth } = origin as Readonly<Record<string, unknown>>;
    this.identity = {
      kind: kindOf(kind),
      type: textOr(type, null),
      name: textOr(name, null),
      description: textOr(description, ''),
      depth: typeof depth === 'number' ? depth : 1,
    };
  }

  /** By a process that finds out for itself what is still to be done. */
  #taken({ epoch }: SwarmEvent): void {
    this.#forgetCalls();
    if (this.#phase === 'stopped') this.#phase = 'idle';
    if (!this.#isCopy || !(Number(epoch) > 1)) return;
    this.#isCopy = false;
    [this.turns, this.usage, this.cost] = [0, NO_USAGE, 0];
  }

  /** What a call asks of a model is part of the call, which runs. */
  #hold({ call, why }: SwarmEvent): void {
    if (typeof call === 'string') return;
    this.#begin('waiting');
    this.#wait = WAIT_REASONS.find((reason) => reason === why) ?? null;
  }

  #begin(phase: 'between' | 'waiting' | 'streaming'): void {
    this.#phase = phase;
    this.#wantsTools = false;
    [this.stop, this.endedAt] = [null, null];
  }

  #end({ type, ts, reason, detail }: SwarmEvent): void {
    this.#phase = type === 'run.ended' ? 'idle' : 'stopped';
    this.stop = { reason: textOr(reason, 'unknown'), detail: textOr(detail, null) };
    this.endedAt = type === 'run.ended' ? null : ts;
    this.#forgetCalls();
  }

  #forgetCalls(): void {
    this.running.clear();
    this.questions.clear();
  }

  #spend(event: SwarmEvent): void {
    const spent = spendingOf(event);
    if (spent === undefined) return;
    this.usage = addUsage(this.usage, spent.usage);
    this.cost = this.cost === null || spent.cost === null ? null : this.cost + spent.cost;
  }
}

const textOr = <Otherwise>(value: unknown, otherwise: Otherwise): string | Otherwise =>
  typeof value === 'string' ? value : otherwise;

const kindOf = (value: unknown): ChildKind => CHILD_KINDS.find((kind) => kind === value) ?? 'sync';
