/**
 * Watches what the server reads from its cache: notes how requests look before they go, and when one
 * has read much less than the one before had left there, puts it on the record with its cause.
 */
import { type AnsweredRequest, isCounted } from '../../context/cache/cache-log.js';
import { isBreak } from '../../prompt/cache-miss/cache-break.js';
import { type BreakFacts, explainBreak } from '../../prompt/cache-miss/explain-break.js';
import {
  digestChange,
  type MessageChange,
  messageChange,
} from '../../prompt/cache-miss/message-change.js';
import {
  digestOf,
  type RequestShape,
  type SentHead,
  shapeOf,
} from '../../prompt/cache-miss/request-shape.js';
import { withDiagnostics } from '../../prompt/request/diagnostics-field.js';
import type { BodyHead, BodyMessage } from '../../prompt/request/request-body.js';
import type { TurnInput } from '../../protocol/agent/agent.js';
import type { Clock } from '../../protocol/clock.js';
import { ModelFailure, type TurnEnd } from '../../protocol/model/model.js';
import type { Usage } from '../../protocol/model/usage.js';
import type { Feed } from '../../protocol/session/feed.js';
import type { JournaledState } from '../agent/journaled-state.js';
import type { PromptHeadManager } from './prompt-head-manager.js';

export interface CacheMonitorDeps {
  readonly notebook: JournaledState;
  readonly feed: Feed;
  readonly clock: Clock;
  /** The provider tells why a prefix could not be read, when asked. */
  readonly diagnostics: boolean;
  /** What stands ahead of the messages when the watch begins. */
  readonly shelf: Pick<PromptHeadManager, 'head' | 'headFor'>;
}

export interface Outgoing extends SentHead {
  readonly messages: readonly BodyMessage[];
}

/** A request on its way, with what was known when it left. */
interface Departure {
  readonly sent: SentHead;
  readonly shape: RequestShape;
  /** References only: a message is never changed, and never copied for this. */
  readonly messages: readonly Buffer[];
  readonly before: AnsweredRequest | undefined;
  readonly declared: BreakFacts['declared'];
  /** Digests of what another process sent; empty once this one has sent something. */
  readonly inherited: readonly string[];
  readonly at: number;
}

const REFUSED = { diagnostics: 'refused' } as const;

export class CacheMonitor {
  private readonly deps: CacheMonitorDeps;
  private departed: Departure | undefined;
  /** The last one that was answered. */
  private answered: Departure | undefined;
  /** The first message whose digest in the journal is not that of its bytes. */
  private rewritten = Number.POSITIVE_INFINITY;
  /** The head that the session came with: probably the one that another process sent last. */
  private readonly inherited: SentHead | undefined;

  constructor(deps: CacheMonitorDeps) {
    this.deps = deps;
    const { history } = deps.notebook;
    if (history.requests === 0) return;
    const { sections } = deps.shelf.head;
    this.inherited = { head: deps.shelf.headFor(history.model), sections, betas: [] };
  }

  /** Before a request leaves. Returns what its record says of its messages, where some are new. */
  before(outgoing: Outgoing): { from: number; digests: string[] } | undefined {
    const { notebook, clock } = this.deps;
    const log = notebook.cache;
    const shape = this.shapeFor(outgoing);
    if (!isSame(log.shape, shape)) notebook.record({ type: 'request.shaped', shape });
    const messages = outgoing.messages.map(({ bytes }) => bytes);
    const from = Math.min(
      log.sent.length,
      messages.length,
      this.rewritten,
      this.sameUpTo(messages),
    );
    const { head, sections, betas } = outgoing;
    this.departed = {
      sent: { head, sections, betas },
      shape,
      messages,
      before: log.last,
      declared: log.declared,
      at: clock.now(),
      inherited: this.answered === undefined ? [...log.sent] : [],
    };
    this.rewritten = Number.POSITIVE_INFINITY;
    const digests = messages.slice(from).map(digestOf);
    return digests.length === 0 ? undefined : { from, digests };
  }

  /**
   * Sends it with a question about the cache, where the provider takes one. A server that refuses
   * the question gets the same request without it, and is not asked again in this session.
   */
  send(head: BodyHead, stream: (head: BodyHead) => Promise<TurnEnd>): Promise<TurnEnd> {
    const { notebook, diagnostics } = this.deps;
    if (!diagnostics || this.isRefused) return stream(head);
    return stream(withDiagnostics(head, notebook.cache.messageId)).catch((error: unknown) => {
      if (!isAboutDiagnostics(error)) throw error;
      notebook.record({ type: 'request.shaped', shape: { ...notebook.cache.shape, ...REFUSED } });
      return stream(head);
    });
  }

  /** After its answer is on the record, or the failure of an attempt that the server had begun. */
  after(
    { turn, attempt }: Pick<TurnInput, 'turn' | 'attempt'>,
    usage: Usage,
    diagnosis: string | null,
  ): void {
    const now = this.departed;
    if (now === undefined || !isCounted(usage)) return;
    const before = this.answered;
    this.answered = now;
    const cachedTokens = now.before?.cachedTokens ?? 0;
    const readTokens = usage.cacheRead;
    if (!isBreak(cachedTokens, readTokens)) return;
    const message = this.changedMessage(before, now);
    const explanation = explainBreak({
      before: { shape: now.before?.shape ?? now.shape, sent: before?.sent ?? this.inherited },
      now,
      message,
      declared: now.declared,
      idleMs: typeof now.before?.at === 'number' ? now.at - now.before.at : null,
    });
    const { notebook, feed } = this.deps;
    notebook.record({
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
    const says = diagnosis === null ? '' : ` The server says: ${diagnosis}.`;
    feed.emit({
      type: 'notice',
      text: `The prompt cache broke: ${missed}. ${explanation.detail}${says}`,
    });
  }

  private changedMessage(before: Departure | undefined, now: Departure): MessageChange | undefined {
    if (before !== undefined) return messageChange(before.messages, now.messages);
    const change = digestChange(now.inherited, now.messages);
    if (change !== undefined) this.rewritten = change.index;
    return change;
  }

  private shapeFor(outgoing: Outgoing): RequestShape {
    const shape = knownShape(outgoing);
    return this.isRefused && !('diagnostics' in shape) ? { ...shape, ...REFUSED } : shape;
  }

  private get isRefused(): boolean {
    return this.deps.notebook.cache.shape?.diagnostics === REFUSED.diagnostics;
  }

  /** How many of the messages are the very ones that were sent last. */
  private sameUpTo(messages: readonly Buffer[]): number {
    const last = this.departed?.messages;
    if (last === undefined) return messages.length;
    const at = last.findIndex((bytes, index) => messages[index] !== bytes);
    return at === -1 ? messages.length : at;
  }
}

/** A head is read and hashed once, however often it is sent, and by however many agents. */
const knownShape = ({ head, sections, betas }: SentHead): RequestShape => {
  const last = shapes.get(head);
  const isKnown = last?.sections === sections && last.betas === betas.join();
  if (isKnown) return last.shape;
  const shape = shapeOf({ head, sections, betas });
  shapes.set(head, { sections, betas: betas.join(), shape });
  return shape;
};

const shapes = new WeakMap<
  BodyHead,
  { readonly sections: SentHead['sections']; readonly betas: string; readonly shape: RequestShape }
>();

const isSame = (one: RequestShape | undefined, other: RequestShape): boolean => {
  if (one === other) return true;
  if (one === undefined) return false;
  const names = Object.keys(other);
  return (
    names.length === Object.keys(one).length && names.every((name) => one[name] === other[name])
  );
};

/** Nothing of it was answered, so it can be sent again as if it had never been. */
const isAboutDiagnostics = (error: unknown): boolean =>
  error instanceof ModelFailure &&
  error.kind === 'rejected' &&
  /\bdiagnostics\b/.test(error.message);
