/** The calls of one agent as its events tell them: what runs, what is asked, and what a call waits for. */

import { WAIT_REASONS, type WaitReason } from '../../protocol/model/queueing.js';
import type { SwarmEvent } from '../../protocol/session/events.js';
import { textOr } from './agent-identity.js';

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

/** What a call asks of a model: the request waits for something, or is under way. */
export interface CallHold {
  readonly why: WaitReason | 'model' | null;
  readonly since: number;
}

export class OpenCallsView {
  readonly running = new Map<string, SeenCall>();
  /** By call: a call has one open question at most. */
  readonly questions = new Map<string, SeenQuestion>();
  /** By call: whom it asked for. */
  readonly children = new Map<string, string[]>();
  readonly holds = new Map<string, CallHold>();

  /** False when it is about no call. */
  take(event: SwarmEvent): boolean {
    if (typeof event.call !== 'string') return false;
    const { call, ts, type } = event;
    const seen = {
      call,
      tool: textOr(event.tool, '?'),
      description: textOr(event.description, ''),
      since: ts,
    };
    switch (type) {
      case 'permission.requested':
        this.questions.set(call, { ...seen, question: textOr(event.question, '') });
        break;
      case 'permission.ruled':
        if (event.behavior !== 'ask') this.questions.delete(call);
        break;
      case 'tool.started':
        this.running.set(call, seen);
        break;
      case 'tool.ended':
        this.end(call);
        break;
      case 'agent.requested':
        this.ask(call, event.child);
        break;
      case 'request.queued':
        this.holds.set(call, { why: waitReasonOf(event.why), since: ts });
        break;
      case 'consultation.started':
        this.holds.set(call, { why: 'model', since: ts });
        break;
      case 'consultation.ended':
        this.holds.delete(call);
        break;
      default:
        return false;
    }
    return true;
  }

  copy(): OpenCallsView {
    const { running, questions, holds } = this;
    const children = new Map([...this.children].map(([call, asked]) => [call, [...asked]]));
    return Object.assign(new OpenCallsView(), {
      running: new Map(running),
      questions: new Map(questions),
      holds: new Map(holds),
      children,
    });
  }

  get isEmpty(): boolean {
    return this.running.size === 0 && this.questions.size === 0;
  }

  /** A call that is taken up again finds its child, and nobody asks for that one a second time. */
  clear(): void {
    for (const calls of [this.running, this.questions, this.holds]) calls.clear();
  }

  forget(): void {
    this.clear();
    this.children.clear();
  }

  private end(call: string): void {
    for (const calls of [this.running, this.questions, this.children, this.holds]) {
      calls.delete(call);
    }
  }

  private ask(call: string, child: unknown): void {
    if (typeof child !== 'string') return;
    const asked = this.children.get(call);
    if (asked === undefined) this.children.set(call, [child]);
    else asked.push(child);
  }
}

/** Of a value that somebody else may have written. */
export const waitReasonOf = (why: unknown): WaitReason | null =>
  WAIT_REASONS.find((reason) => reason === why) ?? null;
