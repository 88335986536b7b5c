/**
 * While a question waits, an answer for the session that somebody else was given may cover it too. Then
 * nobody needs to be asked any more, and the rule that was added decides.
 */
import { QuestionClosed } from '../../protocol/permission/answer.js';
import type { Judgement } from './judge-call.js';
import type { PermissionManager } from './permission-manager.js';

type Allowed = Extract<Judgement, { kind: 'judged' }>;

export class GrantWatcher {
  /** Aborts when the question need not be answered any more. */
  readonly signal: AbortSignal;
  /** Set once the rules allow the call. */
  allowed: Allowed | undefined;
  private readonly judge: () => Judgement;
  private readonly covered = new AbortController();
  private readonly forget: () => void;
  private isLooking = false;
  private isOver = false;

  constructor(
    desk: Pick<PermissionManager, 'onAllowed'>,
    judge: () => Judgement,
    until: AbortSignal,
  ) {
    this.judge = judge;
    this.signal = AbortSignal.any([until, this.covered.signal]);
    this.forget = desk.onAllowed(() => this.lookSoon());
  }

  /** The question is decided. */
  end(): void {
    this.isOver = true;
    this.forget();
  }

  /** Not at once: an answer to this very question may be on its way down from whoever was asked. */
  private lookSoon(): void {
    if (this.isLooking) return;
    this.isLooking = true;
    setImmediate(() => {
      this.isLooking = false;
      if (!this.isOver && !this.signal.aborted) this.look();
    });
  }

  private look(): void {
    const judgement = this.judge();
    if (judgement.kind === 'invalid' || judgement.ruling.behavior !== 'allow') return;
    this.allowed = judgement;
    this.covered.abort(new QuestionClosed({ behavior: 'allow', by: SESSION_ANSWER }));
  }
}

/** For whoever answers too late. */
const SESSION_ANSWER = 'an answer for the session';
