/**
 * Prompt head of an agent: kept unchanged as long as possible, rebuilt at the start of a
 * conversation, and replaced only with a declared break.
 */
import { createHash } from 'node:crypto';
import {
  conversationRecords,
  conversationStep,
} from '../../context/history/conversation-records.js';
import {
  type BodyHead,
  bodyHead,
  type RequestSettings,
} from '../../prompt/request/request-body.js';
import { sectionTexts } from '../../prompt/system/section-texts.js';
import type { ContextProvider } from '../../protocol/model/context-provider.js';
import { type PromptHead, storedPromptHead } from '../../protocol/model/prompt-head.js';
import type { Capabilities } from '../../protocol/model/providers.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { OwnedSession } from '../../protocol/session/owned-session.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { JournaledState } from '../agent/journaled-state.js';

export interface PromptHeadOptions {
  readonly session: OwnedSession;
  readonly journal: JournaledState;
  readonly contextProvider: ContextProvider;
  readonly capabilities: Capabilities;
  readonly requestSettings: (model: string) => Omit<RequestSettings, 'model'>;
  readonly model: string;
}

/** A rebuilt head that differs from the current head and is not in use yet. */
interface NewHead {
  readonly head: PromptHead;
  /** Name of its artifact. */
  readonly prompt: string;
  /** Names of the sections that differ. */
  readonly section: string;
}

export class PromptHeadManager {
  head: PromptHead;
  private readonly options: PromptHeadOptions;
  /**
   * Serialised head by model. Agents with the same head share the map until an agent adopts another
   * head.
   */
  bodyHeads: Map<string, BodyHead>;
  private isStale: boolean;

  constructor(options: PromptHeadOptions, head: PromptHead, bodies = new Map<string, BodyHead>()) {
    this.options = options;
    this.head = head;
    this.bodyHeads = bodies;
    this.isStale = options.contextProvider.isStale(head);
    const { requests, messages } = options.journal.history;
    // The last process cleared the conversation and ended before the next request.
    if (requests > 0 && messages.length === 0) this.expire();
    this.updateSize();
  }

  headFor(model: string): BodyHead {
    const { requestSettings, capabilities } = this.options;
    const serialised =
      this.bodyHeads.get(model) ??
      bodyHead({ model, ...requestSettings(model) }, this.head, capabilities);
    this.bodyHeads.set(model, serialised);
    return serialised;
  }

  /** Returns the maximum output tokens of an answer. */
  outputLimit(model: string): number {
    return this.options.requestSettings(model).maxTokens;
  }

  /** Call when a new conversation starts: the head is rebuilt before the next request. */
  expire(): void {
    this.options.contextProvider.renew();
    this.isStale = true;
  }

  /** Rebuilds the head if it may have changed, and declares a break if it has. */
  async refresh(): Promise<void> {
    if (!this.isStale && !this.options.contextProvider.mayChange) return;
    const { relations, turns } = this.options.journal.history;
    // A fork starts with the head of its parent, however late it starts (law 2).
    if (relations.origin?.inherits !== undefined && turns === 0) return;
    const newHead = await this.rebuild();
    this.isStale = false;
    if (newHead === undefined) return;
    const { prompt, section } = newHead;
    this.options.journal.record({ type: 'prompt.broken', reason: 'section', section, prompt });
    this.adopt(newHead);
  }

  /** Builds the head again. Returns undefined if it is unchanged. */
  async rebuild(): Promise<NewHead | undefined> {
    const { session, journal, contextProvider, model } = this.options;
    const { version, entrypoint, cwd } = session.meta;
    const request = { cwd: journal.history.cwd || cwd, model, version, entrypoint };
    const head = await contextProvider.head({ ...request, kept: this.head });
    if (head.tools === this.head.tools && head.system === this.head.system) return undefined;
    const prompt = await storeHead(session, head);
    return { head, prompt, section: changedSections(this.head, head) };
  }

  /** Uses the new head. Call after the break is recorded. */
  adopt({ head }: NewHead): void {
    this.head = head;
    this.bodyHeads = new Map();
    this.updateSize();
  }

  private updateSize(): void {
    const { tools, system } = this.head;
    this.options.journal.history.promptBytes = Buffer.byteLength(tools) + Buffer.byteLength(system);
  }
}

const changedSections = (before: PromptHead, after: PromptHead): string => {
  const oldTexts = sectionTexts(before);
  const newTexts = sectionTexts(after);
  const names = [...new Set([...oldTexts.keys(), ...newTexts.keys()])];
  const changed = names.filter((name) => oldTexts.get(name) !== newTexts.get(name));
  return changed.length === 0 ? 'system' : changed.join(', ');
};

export const storeHead = async (session: OwnedSession, head: PromptHead): Promise<string> => {
  const { tools, system, sections, ttl } = head;
  const rest = JSON.stringify({ sections, ttl }).slice(1);
  const bytes = Buffer.from(`{"tools":${tools},"system":${system},${rest}`);
  const name = nameOf(bytes);
  await session.putArtifact(name, bytes);
  return name;
};

const DIGEST_NAME = /^prompt-[0-9a-f]{16}\.json$/;

const nameOf = (bytes: Uint8Array): string =>
  `prompt-${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}.json`;

/**
 * Reads a stored head. The artifact name contains the digest, because a changed head would be sent
 * as if it were unchanged (law 3). JSON that was written by JSON.stringify parses and serialises to
 * the same text. Rejects with UsageError.
 */
export const readHead = async (
  name: string,
  read: (name: string) => Promise<Uint8Array>,
): Promise<PromptHead> => {
  try {
    const bytes = await read(name);
    if (DIGEST_NAME.test(name) && nameOf(bytes) !== name) throw new Error('Its digest differs.');
    const { tools, system, sections, ttl } = storedPromptHead.parse(
      JSON.parse(Buffer.from(bytes).toString()),
    );
    return { tools: JSON.stringify(tools), system: JSON.stringify(system), sections, ttl };
  } catch (cause) {
    throw new UsageError(
      `The prompt of this session (${name}) is missing or damaged, so it cannot be resumed; start a new one.`,
      { cause },
    );
  }
};

/**
 * Returns the artifact name of the newest head that a `prompt.broken` record of the conversation
 * names. Returns undefined if the agent still has its first head.
 */
export const newestPrompt = (records: readonly JournalRecord[]): string | undefined => {
  const counted = conversationRecords(records.map(conversationStep));
  return records
    .filter(({ seq }) => counted.has(seq))
    .flatMap((record) => (record.type === 'prompt.broken' && record.prompt) || [])
    .at(-1);
};
