/**
 * The gate that prompts pass one after another: UserPromptSubmit hooks look at each before it is
 * written down, and what a session begins with is finished first. Without hooks it stands open.
 */
import { textIn } from '../../context/history/history-message.js';
import * as stops from '../../machines/stops.js';
import type { Stop } from '../../protocol/agent/agent.js';
import { SkeinError, StorageError } from '../../protocol/errors.js';
import type { Ids } from '../../protocol/ids.js';
import type { RawJson } from '../../protocol/model/wire.js';
import type { Hooks } from '../../protocol/permission/hooks.js';
import type { JournaledState } from '../agent/journaled-state.js';
import { recordHookContext } from '../hooks/hook-context.js';

export interface PromptGateDeps {
  readonly hooks: Hooks;
  readonly notebook: JournaledState;
  readonly ids: Ids;
  /** A prompt did not get in, and why. */
  readonly refuse: (stop: Stop) => void;
}

/** Told when a prompt is written down, or why it will not be. */
export type Settled = (refusal: Stop | undefined) => void;

export class PromptGate {
  private readonly deps: PromptGateDeps;
  private queue: Promise<void> | undefined;
  private waiting = 0;
  private controller = new AbortController();

  constructor(deps: PromptGateDeps) {
    this.deps = deps;
  }

  /** A prompt waits to be let in. */
  get isBusy(): boolean {
    return this.waiting > 0;
  }

  /** Right away where nothing is to be waited for, and then it throws what `deliver` throws. */
  admit(blocks: RawJson, deliver: () => void, settled: Settled = () => {}): void {
    if (this.queue === undefined && !this.deps.hooks.has('UserPromptSubmit')) {
      deliver();
      settled(undefined);
      return;
    }
    this.waiting += 1;
    const { signal } = this.controller;
    this.enqueue(async () => {
      const refusal = await this.look(blocks, deliver, signal);
      this.waiting -= 1;
      if (refusal !== undefined) this.deps.refuse(refusal);
      settled(refusal);
    });
  }

  /** After all that came before: at once when that is nothing. */
  after(work: (isInterrupted: boolean) => void): void {
    const { signal } = this.controller;
    if (this.queue === undefined) work(false);
    else this.enqueue(async () => work(signal.aborted));
  }

  /** Prompts wait for it. */
  hold(work: (signal: AbortSignal) => Promise<void>): void {
    const { signal } = this.controller;
    this.enqueue(() => work(signal));
  }

  /** Those who wait are sent away. */
  interrupt(): void {
    this.controller.abort();
    this.controller = new AbortController();
  }

  private enqueue(work: () => Promise<void>): void {
    const queue: Promise<void> = (this.queue ?? Promise.resolve()).then(work).finally(() => {
      if (this.queue === queue) this.queue = undefined;
    });
    this.queue = queue;
  }

  /** Undefined when it is in. */
  private async look(
    blocks: RawJson,
    deliver: () => void,
    signal: AbortSignal,
  ): Promise<Stop | undefined> {
    const { hooks } = this.deps;
    if (signal.aborted) return stops.INTERRUPTED;
    const facts = { prompt: textIn(blocks, Number.POSITIVE_INFINITY) };
    const verdict = await hooks.fire('UserPromptSubmit', facts, { signal });
    if (signal.aborted) return stops.INTERRUPTED;
    const reason = verdict.halt ?? verdict.block?.reason;
    if (reason !== undefined) {
      return stops.denied(`The prompt was refused and erased: ${reason}`);
    }
    try {
      recordHookContext(this.deps, 'UserPromptSubmit', verdict);
      deliver();
      return undefined;
    } catch (error) {
      if (error instanceof StorageError) return stops.storageFailed(error.message);
      if (error instanceof SkeinError) return stops.denied(error.message);
      throw error;
    }
  }
}
