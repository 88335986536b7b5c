/**
 * Detects cache misses: compares the tokens read from the cache with the tokens that the previous
 * request left there, and records a miss with its cause.
 */
import { type AnsweredRequest, isCounted } from '../../context/cache/cache-log.js';
import { explainMiss, type MissFacts } from '../../prompt/cache-miss/explain-miss.js';
import {
  digestChange,
  type MessageChange,
  messageChange,
} from '../../prompt/cache-miss/message-change.js';
import { isCacheBreak } from '../../prompt/cache-miss/request-difference.js';
import {
  type RequestShape,
  type SentHead,
  shapeDigest,
  shapeOf,
} from '../../prompt/cache-miss/request-shape.js';
import {
  type BodyHead,
  type BodyMessage,
  withDiagnostics,
} from '../../prompt/request/request-body.js';
import type { TurnInput } from '../../protocol/agent/agent-state.js';
import type { Clock } from '../../protocol/clock.js';
import { ModelFailure, type TurnEnd } from '../../protocol/model/model-port.js';
import type { Usage } from '../../protocol/model/usage.js';
import type { Feed } from '../../protocol/session/feed.js';
import type { JournaledState } from '../agent/journaled-state.js';
import type { PromptHeadManager } from './prompt-head-manager.js';

interface CacheMonitorDeps {
  readonly journal: JournaledState;
  readonly feed: Feed;
  readonly clock: Clock;
  /** True if the provider can tell why a prefix was not read. */
  readonly diagnostics: boolean;
  /** Prompt head at the time when monitoring starts. */
  readonly promptHead: Pick<PromptHeadManager, 'head' | 'headFor'>;
}

export interface Outgoing extends SentHead {
  readonly messages: readonly BodyMessage[];
}

/** A sent request, with the cache facts at that time. */
interface SentRequest {
  readonly sent: SentHead;
  readonly shape: RequestShape;
  /** References to message bytes, which are never changed or copied. */
  readonly messages: readonly Buffer[];
  readonly before: AnsweredRequest | undefined;
  readonly declared: MissFacts['declared'];
  /** Message digests of another process; empty after the first request of this process. */
  readonly inherited: readonly string[];
  readonly at: number;
}

const REFUSED = { diagnostics: 'refused' } as const;

export class CacheMonitor {
  private readonly deps: CacheMonitorDeps;
  private lastSent: SentRequest | undefined;
  /** Last request that was answered. */
  private lastAnswered: SentRequest | undefined;
  /** Index of the first message with a journal digest that differs from its bytes. */
  private firstRewritten = Number.POSITIVE_INFINITY;
  /** Head that the session was opened with, probably the last head that another process sent. */
  private readonly inherited: SentHead | undefined;

  constructor(deps: CacheMonitorDeps) {
    this.deps = deps;
    const { history } = deps.journal;
    if (history.requests === 0) return;
    const { sections } = deps.promptHead.head;
    this.inherited = { head: deps.promptHead.headFor(history.model), sections, betas: [] };
  }

  /**
   * Call before a request is sent. Returns the digests of new messages for its record, or undefined
   * if there are none.
   */
  before(outgoing: Outgoing): { from: number; digests: string[] } | undefined {
    const { journal, clock } = this.deps;
    const log = journal.cache;
    const shape = this.shapeFor(outgoing);
    if (!isSame(log.shape, shape)) journal.record({ type: 'request.shaped', shape });
    const messages = outgoing.messages.map(({ bytes }) => bytes);
    const from = Math.min(
      log.sent.length,
      messages.length,
      this.firstRewritten,
      this.sameUpTo(messages),
    );
    const { head, sections, betas } = outgoing;
    this.lastSent = {
      sent: { head, sections, betas },
      shape,
      messages,
      before: log.last,
      declared: log.declared,
      at: clock.now(),
      inherited: this.lastAnswered === undefined ? [...log.sent] : [],
    };
    this.firstRewritten = Number.POSITIVE_INFINITY;
    const digests = messages.slice(from).map(shapeDigest);
    return digests.length === 0 ? undefined : { from, digests };
  }

  /**
   * Sends the request with a cache diagnostics field if the provider supports it. If the server
   * rejects the field, repeats the request without it and does not send it again in this session.
   */
  send(head: BodyHead, stream: (head: BodyHead) => Promise<TurnEnd>): Promise<TurnEnd> {
    const { journal, diagnostics } = this.deps;
    if (!diagnostics || this.isRefused) return stream(head);
    return stream(withDiagnostics(head, journal.cache.messageId)).catch((error: unknown) => {
      if (!isAboutDiagnostics(error)) throw error;
      journal.record({ type: 'request.shaped', shape: { ...journal.cache.shape, ...REFUSED } });
      return stream(head);
    });
  }

  /**
   * Call after the answer is recorded, or after the failure of an attempt that the server had
   * started.
   */
  after(
    { turn, attempt }: Pick<TurnInput, 'turn' | 'attempt'>,
    usage: Usage,
    diagnosis: string | null,
  ): void {
    const now = this.lastSent;
    if (now === undefined || !isCounted(usage)) return;
    const before = this.lastAnswered;
    this.lastAnswered = now;
    const cachedTokens = now.before?.cachedTokens ?? 0;
    const readTokens = usage.cacheRead;
    if (!isCacheBreak(cachedTokens, readTokens)) return;
    const message = this.changedMessage(before, now);
    const explanation = explainMiss({
      before: { shape: now.before?.shape ?? now.shape, sent: before?.sent ?? this.inherited },
      now,
      message,
      declared: now.declared,
      idleMs: typeof now.before?.at === 'number' ? now.at - now.before.at : null,
    });
    const { journal, feed } = this.deps;
    journal.record({
      type: 'cache.broken',
      turn,
      attempt,
      ...explanation,
      cachedTokens,
      readTokens,
      diagnosis,
    });
    if (explanation.expected) return;
    const missed = `${cachedTokens - readTokens} of ${cachedTokens} cached tokens were not read again`;
    const serverText = diagnosis === null ? '' : ` The server says: ${diagnosis}.`;
    feed.emit({
      type: 'notice',
      text: `The prompt cache broke: ${missed}. ${explanation.detail}${serverText}`,
    });
  }

  private changedMessage(
    before: SentRequest | undefined,
    now: SentRequest,
  ): MessageChange | undefined {
    if (before !== undefined) return messageChange(before.messages, now.messages);
    const change = digestChange(now.inherited, now.messages);
    if (change !== undefined) this.firstRewritten = change.index;
    return change;
  }

  private shapeFor(outgoing: Outgoing): RequestShape {
    const shape = cachedShape(outgoing);
    return this.isRefused && !('diagnostics' in shape) ? { ...shape, ...REFUSED } : shape;
  }

  private get isRefused(): boolean {
    return this.deps.journal.cache.shape?.diagnostics === REFUSED.diagnostics;
  }

  /** Returns how many leading messages are identical to those of the last request. */
  private sameUpTo(messages: readonly Buffer[]): number {
    const last = this.lastSent?.messages;
    if (last === undefined) return messages.length;
    const at = last.findIndex((bytes, index) => messages[index] !== bytes);
    return at === -1 ? messages.length : at;
  }
}

/**
 * Returns the shape of a head. Each head is hashed once, however often and by however many agents
 * it is sent.
 */
const cachedShape = ({ head, sections, betas }: SentHead): RequestShape => {
  const cached = shapes.get(head);
  const isCached = cached?.sections === sections && cached.betas === betas.join();
  if (isCached) return cached.shape;
  const shape = shapeOf({ head, sections, betas });
  shapes.set(head, { sections, betas: betas.join(), shape });
  return shape;
};

const shapes = new WeakMap<
  BodyHead,
  { readonly sections: SentHead['sections']; readonly betas: string; readonly shape: RequestShape }
>();

const isSame = (previous: RequestShape | undefined, current: RequestShape): boolean => {
  if (previous === current) return true;
  if (previous === undefined) return false;
  const names = Object.keys(current);
  return (
    names.length === Object.keys(previous).length &&
    names.every((name) => previous[name] === current[name])
  );
};

/**
 * True if the server rejected the diagnostics field. The request had no effect and can be repeated.
 */
const isAboutDiagnostics = (error: unknown): boolean =>
  error instanceof ModelFailure &&
  error.kind === 'rejected' &&
  /\bdiagnostics\b/.test(error.message);
