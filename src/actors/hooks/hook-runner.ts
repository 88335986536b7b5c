/**
 * Runs the hooks of an agent: all hooks of an event in parallel, until one blocks. Each run is
 * recorded, messages for people go to the feed, and a failing hook never fails its agent.
 */
import { type HookOutput, hookName, readHookOutput } from '../../policy/hooks/hook-output.js';
import { hookVerdict, isDecisive } from '../../policy/hooks/hook-verdict.js';
import type { Clock } from '../../protocol/clock.js';
import type { HookEnd, HookSetup, RunHookCommand } from '../../protocol/permission/hook-setup.js';
import {
  type HookEvent,
  type HookFacts,
  type HookOptions,
  type HookRun,
  type Hooks,
  type HookVerdict,
  NO_VERDICT,
} from '../../protocol/permission/hooks.js';
import type { Feed } from '../../protocol/session/feed.js';
import { StorageError } from '../../protocol/skein-error.js';
import type { JournaledState } from '../agent/journaled-state.js';
import { runFunctionHook } from './run-function-hook.js';

/** State that all hook runners of a session share. */
export class HookRunState {
  /** Hooks with `once` that have run. */
  readonly ranOnce = new Set<HookSetup>();
  /** Notices that were already emitted: a hook that fails at every call is reported once. */
  readonly notices = new Set<string>();
}

interface HookRunnerOptions {
  /** Hooks in the order of the settings. */
  readonly setups: readonly HookSetup[];
  readonly runCommand: RunHookCommand;
  /** Returns the current common input fields: `session_id`, `cwd` and others. */
  readonly facts: () => HookFacts & { readonly cwd: string };
  readonly journal: Pick<JournaledState, 'record' | 'fail'>;
  readonly feed: Pick<Feed, 'emit'>;
  readonly clock: Clock;
  /** Undefined if the session has only one runner. */
  readonly runState?: HookRunState | undefined;
}

/** A hook and its input for one event. */
interface HookJob {
  readonly event: HookEvent;
  readonly setup: HookSetup;
  readonly input: string;
  readonly cwd: string;
  readonly call: string | undefined;
}

interface HookResult {
  readonly output: HookOutput;
  readonly run: HookRun;
}

const MAX_REMEMBERED_NOTICES = 1_000;

export class HookRunner implements Hooks {
  private readonly options: HookRunnerOptions;
  private readonly byEvent = new Map<HookEvent, readonly HookSetup[]>();
  private readonly runState: HookRunState;
  private readonly closing = new AbortController();

  constructor(options: HookRunnerOptions) {
    this.options = options;
    this.runState = options.runState ?? new HookRunState();
    for (const setup of options.setups) {
      this.byEvent.set(setup.event, [...(this.byEvent.get(setup.event) ?? []), setup]);
    }
  }

  has(event: HookEvent, subject?: string): boolean {
    return this.byEvent.get(event)?.some((setup) => this.isDue(setup, subject)) ?? false;
  }

  async fire(event: HookEvent, facts: HookFacts, options: HookOptions): Promise<HookVerdict> {
    const due = (this.byEvent.get(event) ?? []).filter((setup) =>
      this.isDue(setup, options.subject),
    );
    if (due.length === 0 || this.closing.signal.aborted) return NO_VERDICT;
    const common = this.options.facts();
    const input = jsonOf({ ...common, hook_event_name: event, ...facts });
    const job = { event, input, cwd: common.cwd, call: options.call };
    for (const setup of due) if (setup.once) this.runState.ranOnce.add(setup);
    const setups = withoutDuplicates(due);
    for (const setup of setups) {
      if (setup.isAsync) void this.run({ ...job, setup }, this.closing.signal);
    }
    const decided = new AbortController();
    const signal = AbortSignal.any([options.signal, this.closing.signal, decided.signal]);
    const results = await Promise.all(
      setups
        .filter(({ isAsync }) => !isAsync)
        .map(async (setup) => {
          const result = await this.run({ ...job, setup }, signal);
          if (isDecisive(result.output)) decided.abort();
          return result;
        }),
    );
    return hookVerdict(
      results.map(({ output }) => output),
      results.map(({ run }) => run),
    );
  }

  /** Aborts running hooks. Later events run no hooks. */
  close(): void {
    this.closing.abort();
  }

  private isDue(setup: HookSetup, subject: string | undefined): boolean {
    return !this.runState.ranOnce.has(setup) && (subject === undefined || setup.matches(subject));
  }

  private async run(job: HookJob, signal: AbortSignal): Promise<HookResult> {
    const { clock } = this.options;
    const { event, setup } = job;
    const startedAt = clock.now();
    const end = await this.perform(job, signal);
    const name = setup.action.kind === 'command' ? setup.action.command : setup.action.name;
    const output = readHookOutput(event, name, end);
    const { outcome, detail } = output;
    const run = {
      hook: hookName(name),
      outcome,
      durationMs: clock.now() - startedAt,
      detail,
      ...(end.kind === 'exited' && { exitCode: end.exitCode }),
    };
    this.recordRun(event, run, job.call);
    for (const text of output.messages) this.notifyOnce(text);
    return { output, run };
  }

  private async perform(
    { setup: { action, timeoutMs }, input, cwd, call }: HookJob,
    signal: AbortSignal,
  ): Promise<HookEnd> {
    if (signal.aborted) return { kind: 'aborted' };
    if (action.kind === 'command') {
      const { command } = action;
      return this.options.runCommand({ command, cwd, input, timeoutMs, signal });
    }
    const { clock } = this.options;
    return runFunctionHook(action.run, { input, call, timeoutMs, signal, clock });
  }

  /**
   * Records the run. After a storage failure the next record of the agent fails, which ends its
   * run.
   */
  private recordRun(event: HookEvent, run: HookRun, call: string | undefined): void {
    const { journal } = this.options;
    try {
      journal.record({ type: 'hook.ran', event, ...run, ...(call !== undefined && { call }) });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      journal.fail(error);
    }
  }

  private notifyOnce(text: string): void {
    const { notices } = this.runState;
    if (notices.has(text)) return;
    if (notices.size < MAX_REMEMBERED_NOTICES) notices.add(text);
    this.options.feed.emit({ type: 'notice', text });
  }
}

/**
 * Serialises the input. Input that is not serialisable is reduced to its text fields, and the hooks
 * still run.
 */
const jsonOf = (input: HookFacts): string => {
  try {
    return JSON.stringify(input);
  } catch {
    const texts = Object.entries(input).filter(([, value]) => typeof value === 'string');
    return JSON.stringify({ ...Object.fromEntries(texts), unreadable: true });
  }
};

/** Drops hooks that are configured twice. */
const withoutDuplicates = (setups: readonly HookSetup[]): readonly HookSetup[] => {
  const identities = new Set<unknown>();
  return setups.filter(({ action, isAsync }) => {
    const identity = action.kind === 'command' ? `${isAsync}:${action.command}` : action.run;
    const isNew = !identities.has(identity);
    identities.add(identity);
    return isNew;
  });
};
