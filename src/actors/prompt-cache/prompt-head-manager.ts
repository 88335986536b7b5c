/**
 * The head of an agent's prompt: kept as it is for as long as possible, looked at again where a
 * conversation begins anew, and replaced only together with a declared break.
 */
import { createHash } from 'node:crypto';
import {
  type BodyHead,
  bodyHead,
  type RequestSettings,
} from '../../prompt/request/request-body.js';
import { sectionTexts } from '../../prompt/system/head-text.js';
import { UsageError } from '../../protocol/errors.js';
import type { ContextProvider } from '../../protocol/model/context-provider.js';
import { keptHead, type PromptHead } from '../../protocol/model/prompt.js';
import type { Capabilities } from '../../protocol/model/providers.js';
import type { Session } from '../../protocol/session/store.js';
import type { JournaledState } from '../agent/journaled-state.js';

export interface PromptHeadOptions {
  readonly session: Session;
  readonly notebook: JournaledState;
  readonly briefing: ContextProvider;
  readonly capabilities: Capabilities;
  readonly requestSettings: (model: string) => Omit<RequestSettings, 'model'>;
  readonly model: string;
}

/** A head that says something else, not in use yet. */
export interface NewHead {
  readonly head: PromptHead;
  /** The artifact that holds it. */
  readonly prompt: string;
  /** The sections that differ, in words. */
  readonly section: string;
}

export class PromptHeadManager {
  head: PromptHead;
  private readonly options: PromptHeadOptions;
  /** One for each model that was asked. Agents that share a head share them, until one gets another head. */
  bodies: Map<string, BodyHead>;
  private isDue: boolean;

  constructor(options: PromptHeadOptions, head: PromptHead, bodies = new Map<string, BodyHead>()) {
    this.options = options;
    this.head = head;
    this.bodies = bodies;
    this.isDue = options.briefing.isStale(head);
    const { requests, messages } = options.notebook.history;
    // Its last process was told to begin anew, and ended before it could.
    if (requests > 0 && messages.length === 0) this.expire();
    this.weigh();
  }

  headFor(model: string): BodyHead {
    const { requestSettings, capabilities } = this.options;
    const made =
      this.bodies.get(model) ??
      bodyHead({ model, ...requestSettings(model) }, this.head, capabilities);
    this.bodies.set(model, made);
    return made;
  }

  /** Tokens that an answer may have. */
  outputLimit(model: string): number {
    return this.options.requestSettings(model).maxTokens;
  }

  /** The conversation has begun anew: before the next request everything is looked at again. */
  expire(): void {
    this.options.briefing.renew();
    this.isDue = true;
  }

  /** Declares what has changed since the last request. */
  async refresh(): Promise<void> {
    if (!this.isDue && !this.options.briefing.mayChange) return;
    const { family, turns } = this.options.notebook.history;
    // A fork begins with the head of its parent, however late it begins (law 2).
    if (family.origin?.inherits !== undefined && turns === 0) return;
    const renewed = await this.look();
    this.isDue = false;
    if (renewed === undefined) return;
    const { prompt, section } = renewed;
    this.options.notebook.record({ type: 'prompt.broken', reason: 'section', section, prompt });
    this.adopt(renewed);
  }

  /** Undefined when it would say the same again. */
  async look(): Promise<NewHead | undefined> {
    const { session, notebook, briefing, model } = this.options;
    const { version, entrypoint, cwd } = session.meta;
    const place = { cwd: notebook.history.cwd || cwd, model, version, entrypoint };
    const head = await briefing.head({ ...place, kept: this.head });
    if (head.tools === this.head.tools && head.system === this.head.system) return undefined;
    const prompt = await keepHead(session, head);
    return { head, prompt, section: changedSections(this.head, head) };
  }

  /** From now on, after the break is on the record. */
  adopt({ head }: NewHead): void {
    this.head = head;
    this.bodies = new Map();
    this.weigh();
  }

  private weigh(): void {
    const { tools, system } = this.head;
    this.options.notebook.history.promptBytes =
      Buffer.byteLength(tools) + Buffer.byteLength(system);
  }
}

const changedSections = (before: PromptHead, after: PromptHead): string => {
  const was = sectionTexts(before);
  const is = sectionTexts(after);
  const names = [...new Set([...was.keys(), ...is.keys()])];
  const changed = names.filter((name) => was.get(name) !== is.get(name));
  return changed.length === 0 ? 'system' : changed.join(', ');
};

export const keepHead = async (session: Session, head: PromptHead): Promise<string> => {
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
 * Its name says what is in it: one that was changed would be sent as if it were the one before (law 3).
 * Parsing and writing JSON that was written by JSON.stringify gives the same text again.
 */
export const readHead = async (
  name: string,
  read: (name: string) => Promise<Uint8Array>,
): Promise<PromptHead> => {
  try {
    const bytes = await read(name);
    if (DIGEST_NAME.test(name) && nameOf(bytes) !== name) throw new Error('Its digest is another.');
    const { tools, system, sections, ttl } = keptHead.parse(
      JSON.parse(Buffer.from(bytes).toString()),
    );
    return { tools: JSON.stringify(tools), system: JSON.stringify(system), sections, ttl };
  } catch (cause) {
    throw new UsageError(
      `The prompt of this session (${name}) is missing or damaged, so it cannot be resumed; begin a new one.`,
      { cause },
    );
  }
};
