/**
 * Watches for session rules that allow a call while its question is open. An answer to another
 * question may add such a rule; then the rule decides and the open question is withdrawn.
 */
import { QuestionClosed } from '../../protocol/permission/signed-answer.js';
import type { Judgement } from './judge-call.js';
import type { PermissionManager } from './permission-manager.js';

type Allowed = Extract<Judgement, { kind: 'judged' }>;

export class GrantWatcher {
  /** Aborts when the question needs no answer any more. */
  readonly signal: AbortSignal;
  /** The judgement that allows the call; undefined until the rules allow it. */
  allowed: Allowed | undefined;
  private readonly judge: () => Judgement;
  private readonly covered = new AbortController();
  private readonly removeListener: () => void;
  private isScheduled = false;
  private isOver = false;

  constructor(
    permissions: Pick<PermissionManager, 'onAllowed'>,
    judge: () => Judgement,
    until: AbortSignal,
  ) {
    this.judge = judge;
    this.signal = AbortSignal.any([until, this.covered.signal]);
    this.removeListener = permissions.onAllowed(() => this.judgeSoon());
  }

  /** Stops watching. Call when the question is decided. */
  end(): void {
    this.isOver = true;
    this.removeListener();
  }

  /**
   * Judges again in the next event loop turn, because an answer to this very question may be
   * arriving from the parent.
   */
  private judgeSoon(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      if (!this.isOver && !this.signal.aborted) this.judgeAgain();
    });
  }

  private judgeAgain(): void {
    const judgement = this.judge();
    if (judgement.kind === 'invalid' || judgement.ruling.behavior !== 'allow') return;
    this.allowed = judgement;
    this.covered.abort(new QuestionClosed({ behavior: 'allow', by: SESSION_ANSWER }));
  }
}

/** Name of the answerer in the reply to a late answer. */
const SESSION_ANSWER = 'an answer for the session';
