/** Folds the open calls of one agent: running calls, open questions, children and model waits. */

import { textOr } from '../../lib/text/text-or.js';
import { WAIT_REASONS, type WaitReason } from '../../protocol/model/governor.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';

export interface OpenCall {
  readonly call: string;
  readonly tool: string;
  readonly description: string;
  /** Milliseconds since 1970. */
  readonly since: number;
}

export interface OpenQuestionView extends OpenCall {
  readonly question: string;
}

/** Model request of a call: the reason why it waits, or `model` if it was sent. */
export interface CallWait {
  readonly why: WaitReason | 'model' | null;
  readonly since: number;
}

export class OpenCallsView {
  readonly running = new Map<string, OpenCall>();
  /** By call. A call has at most one open question. */
  readonly questions = new Map<string, OpenQuestionView>();
  /** Ids of spawned children, by call. */
  readonly children = new Map<string, string[]>();
  readonly waits = new Map<string, CallWait>();

  /** Returns false if the event is not about a call. */
  take(event: SwarmEvent): boolean {
    if (typeof event.call !== 'string') return false;
    const { call, ts, type } = event;
    const open = {
      call,
      tool: textOr(event.tool, '?'),
      description: textOr(event.description, ''),
      since: ts,
    };
    switch (type) {
      case 'permission.requested':
        this.questions.set(call, { ...open, question: textOr(event.question, '') });
        break;
      case 'permission.ruled':
        if (event.behavior !== 'ask') this.questions.delete(call);
        break;
      case 'tool.started':
        this.running.set(call, open);
        break;
      case 'tool.ended':
        this.end(call);
        break;
      case 'agent.requested':
        this.addChild(call, event.child);
        break;
      case 'request.queued':
        this.waits.set(call, { why: waitReasonOf(event.why), since: ts });
        break;
      case 'consultation.started':
        this.waits.set(call, { why: 'model', since: ts });
        break;
      case 'consultation.ended':
        this.waits.delete(call);
        break;
      default:
        return false;
    }
    return true;
  }

  copy(): OpenCallsView {
    const children = new Map([...this.children].map(([call, ids]) => [call, [...ids]]));
    return Object.assign(new OpenCallsView(), {
      running: new Map(this.running),
      questions: new Map(this.questions),
      waits: new Map(this.waits),
      children,
    });
  }

  get isEmpty(): boolean {
    return this.running.size === 0 && this.questions.size === 0;
  }

  /** Keeps `children`, because a resumed call rejoins its child without a new request event. */
  clear(): void {
    for (const calls of [this.running, this.questions, this.waits]) calls.clear();
  }

  clearAll(): void {
    this.clear();
    this.children.clear();
  }

  private end(call: string): void {
    for (const calls of [this.running, this.questions, this.children, this.waits]) {
      calls.delete(call);
    }
  }

  private addChild(call: string, child: unknown): void {
    if (typeof child !== 'string') return;
    const children = this.children.get(call);
    if (children === undefined) this.children.set(call, [child]);
    else children.push(child);
  }
}

/** Returns null for an unknown value. */
export const waitReasonOf = (why: unknown): WaitReason | null =>
  WAIT_REASONS.find((reason) => reason === why) ?? null;
