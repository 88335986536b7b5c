/**
 * Queue of prompts. UserPromptSubmit hooks check each prompt before it is recorded, and
 * SessionStart hooks finish first. Without hooks prompts pass synchronously.
 */
import { textOfContent } from '../../context/history/history-message.js';
import { oversizeOf, oversizeText } from '../../context/window/oversize-of.js';
import { stops } from '../../machines/stops.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { Ids } from '../../protocol/ids.js';
import type { RawJson } from '../../protocol/model/wire-block.js';
import type { Hooks } from '../../protocol/permission/hooks.js';
import { SkeinError, StorageError } from '../../protocol/skein-error.js';
import type { JournaledState } from '../agent/journaled-state.js';
import { recordHookContext } from '../hooks/record-hook-context.js';

interface PromptGateDeps {
  readonly hooks: Hooks;
  readonly journal: JournaledState;
  readonly ids: Ids;
  /** Called with the reason if a prompt is refused. */
  readonly refuse: (stop: Stop) => void;
  /** Returns the context windows of the models that may read the prompt, in tokens. */
  readonly windows: () => readonly number[];
}

/** Called when a prompt has been recorded, or with the reason why it was refused. */
export type PromptSettled = (refusal: Stop | undefined) => void;

export class PromptGate {
  private readonly deps: PromptGateDeps;
  private queue: Promise<void> | undefined;
  private waiting = 0;
  private controller = new AbortController();

  constructor(deps: PromptGateDeps) {
    this.deps = deps;
  }

  /** True while a prompt waits for its hooks. */
  get isBusy(): boolean {
    return this.waiting > 0;
  }

  /**
   * Refuses a prompt that is too long. Runs the hooks, then delivers the prompt. Without hooks and queued work it delivers
   * synchronously and throws any error of `deliver`.
   */
  admit(blocks: RawJson, deliver: () => void, settled: PromptSettled = () => {}): void {
    const oversize = oversizeOf(blocks, this.deps.windows());
    if (oversize !== undefined) {
      const refusal = stops.denied(
        `The prompt ${oversizeText(oversize)}. Save the text to a file and name the file in the prompt.`,
      );
      this.after(() => {
        this.deps.refuse(refusal);
        settled(refusal);
      });
      return;
    }
    if (this.queue === undefined && !this.deps.hooks.has('UserPromptSubmit')) {
      deliver();
      settled(undefined);
      return;
    }
    this.waiting += 1;
    const { signal } = this.controller;
    this.enqueue(async () => {
      const refusal = await this.check(blocks, deliver, signal);
      this.waiting -= 1;
      if (refusal !== undefined) this.deps.refuse(refusal);
      settled(refusal);
    });
  }

  /** Runs `work` after all queued work; synchronously if the queue is empty. */
  after(work: (isInterrupted: boolean) => void): void {
    const { signal } = this.controller;
    if (this.queue === undefined) work(false);
    else this.enqueue(async () => work(signal.aborted));
  }

  /** Queues work that later prompts wait for. */
  runBeforePrompts(work: (signal: AbortSignal) => Promise<void>): void {
    const { signal } = this.controller;
    this.enqueue(() => work(signal));
  }

  /** Aborts all queued prompts. */
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

  /** Runs the hooks. Returns the reason of a refusal, or undefined if the prompt was delivered. */
  private async check(
    blocks: RawJson,
    deliver: () => void,
    signal: AbortSignal,
  ): Promise<Stop | undefined> {
    const { hooks } = this.deps;
    if (signal.aborted) return stops.INTERRUPTED;
    const facts = { prompt: textOfContent(blocks, Number.POSITIVE_INFINITY) };
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
