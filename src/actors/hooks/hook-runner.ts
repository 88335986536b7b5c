/**
 * Runs the hooks of an agent: all of an event at once, until one blocks. Each run is journaled, what
 * they have to say to people goes to the feed, and nothing that a hook does can fail its agent.
 */
import { type HookSaid, hearHook, nameOf } from '../../policy/hooks/hook-output.js';
import { isDecisive, mergeVerdict } from '../../policy/hooks/hook-verdict.js';
import type { Clock } from '../../protocol/clock.js';
import { StorageError } from '../../protocol/errors.js';
import type { HookEnd, HookSetup, RunHookCommand } from '../../protocol/permission/hook-setup.js';
import {
  type HookEvent,
  type HookFacts,
  type HookRun,
  type Hooks,
  type HookTerms,
  type HookVerdict,
  NO_VERDICT,
} from '../../protocol/permission/hooks.js';
import type { Feed } from '../../protocol/session/feed.js';
import type { JournaledState } from '../agent/journaled-state.js';
import { runHookFunction } from './function-hook.js';

/** What the desks of one session have in common. */
export class HookRunState {
  /** Those that run once in a session, and have. */
  readonly spent = new Set<HookSetup>();
  /** What people were told already: a hook that fails at every call says so once. */
  readonly told = new Set<string>();
}

export interface HookRunnerOptions {
  /** In the order of the settings. */
  readonly setups: readonly HookSetup[];
  readonly runCommand: RunHookCommand;
  /** What every hook is told, at this moment: `session_id`, `cwd` and the like. */
  readonly facts: () => HookFacts & { readonly cwd: string };
  readonly notebook: Pick<JournaledState, 'record' | 'fail'>;
  readonly feed: Pick<Feed, 'emit'>;
  readonly clock: Clock;
  /** Left out where there is but one desk. */
  readonly memory?: HookRunState | undefined;
}

/** One hook that is about to run for an event. */
interface Errand {
  readonly event: HookEvent;
  readonly setup: HookSetup;
  readonly input: string;
  readonly cwd: string;
  readonly call: string | undefined;
}

interface Ran {
  readonly said: HookSaid;
  readonly run: HookRun;
}

const MOST_NOTICES = 1_000;

export class HookRunner implements Hooks {
  private readonly options: HookRunnerOptions;
  private readonly byEvent = new Map<HookEvent, readonly HookSetup[]>();
  private readonly memory: HookRunState;
  private readonly closing = new AbortController();

  constructor(options: HookRunnerOptions) {
    this.options = options;
    this.memory = options.memory ?? new HookRunState();
    for (const setup of options.setups) {
      this.byEvent.set(setup.event, [...(this.byEvent.get(setup.event) ?? []), setup]);
    }
  }

  has(event: HookEvent, subject?: string): boolean {
    return this.byEvent.get(event)?.some((setup) => this.isDue(setup, subject)) ?? false;
  }

  async fire(event: HookEvent, facts: HookFacts, terms: HookTerms): Promise<HookVerdict> {
    const due = (this.byEvent.get(event) ?? []).filter((setup) => this.isDue(setup, terms.subject));
    if (due.length === 0 || this.closing.signal.aborted) return NO_VERDICT;
    const common = this.options.facts();
    const input = jsonOf({ ...common, hook_event_name: event, ...facts });
    const errand = { event, input, cwd: common.cwd, call: terms.call };
    for (const setup of due) if (setup.once) this.memory.spent.add(setup);
    const setups = withoutTwins(due);
    for (const setup of setups) {
      if (setup.isAsync) void this.run({ ...errand, setup }, this.closing.signal);
    }
    const enough = new AbortController();
    const signal = AbortSignal.any([terms.signal, this.closing.signal, enough.signal]);
    const ran = await Promise.all(
      setups
        .filter(({ isAsync }) => !isAsync)
        .map(async (setup) => {
          const one = await this.run({ ...errand, setup }, signal);
          if (isDecisive(one.said)) enough.abort();
          return one;
        }),
    );
    return mergeVerdict(
      ran.map(({ said }) => said),
      ran.map(({ run }) => run),
    );
  }

  /** Ends what still runs; nothing runs after it. */
  close(): void {
    this.closing.abort();
  }

  private isDue(setup: HookSetup, subject: string | undefined): boolean {
    return !this.memory.spent.has(setup) && (subject === undefined || setup.matches(subject));
  }

  private async run(errand: Errand, signal: AbortSignal): Promise<Ran> {
    const { clock } = this.options;
    const { event, setup } = errand;
    const began = clock.now();
    const end = await this.perform(errand, signal);
    const name = setup.work.kind === 'command' ? setup.work.command : setup.work.name;
    const said = hearHook(event, name, end);
    const { outcome, detail } = said;
    const run = { hook: nameOf(name), outcome, durationMs: clock.now() - began, detail };
    this.note(event, run, errand.call);
    for (const text of said.messages) this.tell(text);
    return { said, run };
  }

  private async perform(
    { setup: { work, timeoutMs }, input, cwd, call }: Errand,
    signal: AbortSignal,
  ): Promise<HookEnd> {
    if (signal.aborted) return { kind: 'aborted' };
    if (work.kind === 'command') {
      const { command } = work;
      return this.options.runCommand({ command, cwd, input, timeoutMs, signal });
    }
    const { clock } = this.options;
    return runHookFunction(work.run, { input, call, timeoutMs, signal, clock });
  }

  /** A disk that is full fails whatever the agent records next, and that ends its run. */
  private note(event: HookEvent, run: HookRun, call: string | undefined): void {
    const { notebook } = this.options;
    try {
      notebook.record({ type: 'hook.ran', event, ...run, ...(call !== undefined && { call }) });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      notebook.fail(error);
    }
  }

  private tell(text: string): void {
    const { told } = this.memory;
    if (told.has(text)) return;
    if (told.size < MOST_NOTICES) told.add(text);
    this.options.feed.emit({ type: 'notice', text });
  }
}

/** What cannot be written down as JSON is said to be so; the hooks still run. */
const jsonOf = (input: HookFacts): string => {
  try {
    return JSON.stringify(input);
  } catch {
    const texts = Object.entries(input).filter(([, value]) => typeof value === 'string');
    return JSON.stringify({ ...Object.fromEntries(texts), unreadable: true });
  }
};

/** One that is set up twice runs once. */
const withoutTwins = (setups: readonly HookSetup[]): readonly HookSetup[] => {
  const seen = new Set<unknown>();
  return setups.filter(({ work, isAsync }) => {
    const what = work.kind === 'command' ? `${isAsync}:${work.command}` : work.run;
    const isNew = !seen.has(what);
    seen.add(what);
    return isNew;
  });
};
