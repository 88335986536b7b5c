/** Hooks of a session outside of calls: start, end, notifications and loaded instruction files. */
import type { Clock } from '../../protocol/clock.js';
import type { Ids } from '../../protocol/ids.js';
import type { HookSetup, RunHookCommand } from '../../protocol/permission/hook-setup.js';
import { type HookFacts, type Hooks, NO_HOOKS } from '../../protocol/permission/hooks.js';
import type { AgentMode } from '../../protocol/permission/permission-mode.js';
import type { Feed, FeedItem } from '../../protocol/session/feed.js';
import type { OwnedSession } from '../../protocol/session/owned-session.js';
import { StorageError } from '../../protocol/skein-error.js';
import type { Memory, MemoryFile, MemoryLayer, MemoryPorts } from '../../protocol/tools/memory.js';
import type { FeedHub } from '../agent/feed-hub.js';
import type { JournaledState } from '../agent/journaled-state.js';
import type { PromptGate } from '../session/prompt-gate.js';
import { HookRunner, HookRunState } from './hook-runner.js';
import { recordHookContext } from './record-hook-context.js';

/** Configured hooks, and the function that runs their commands. */
export interface HookEquipment {
  readonly setups: readonly HookSetup[];
  readonly runCommand: RunHookCommand;
  /** Calls the listener for each loaded instruction file, including those loaded before. */
  readonly onInstructions?: (listener: MemoryPorts['onLoad']) => void;
  /** Run state that all agents of the session share. */
  readonly runState?: HookRunState;
}

/** Adds shared run state, so that a hook with `once` runs once for all agents of the session. */
export const withRunState = <Configured extends HookEquipment | Hooks | undefined>(
  configured: Configured,
): Configured =>
  configured === undefined || 'fire' in configured
    ? configured
    : { ...configured, runState: new HookRunState() };

interface SessionHookDeps {
  readonly hooks: Hooks;
  readonly journal: JournaledState;
  readonly feed: FeedHub;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly model: string;
}

type StartSource = 'startup' | 'resume' | 'clear' | 'compact';
export type EndReason = 'clear' | 'prompt_input_exit' | 'other';

/** Maximum time for the last hooks, so that closing a session never hangs. */
const MAX_END_MS = 5_000;
const IDLE_MS = 60_000;

interface HooksDeps extends Pick<SessionHookDeps, 'journal' | 'clock'> {
  readonly feed: Feed;
  readonly mode: () => AgentMode;
  /** Undefined for the lead. */
  readonly child?: { readonly id: string; readonly type: string } | undefined;
}

export const openHooks = (
  configured: HookEquipment | Hooks | undefined,
  session: OwnedSession,
  { journal, feed, clock, mode, child }: HooksDeps,
): Hooks & { close(): void } => {
  if (configured === undefined) return { ...NO_HOOKS, close: () => {} };
  if ('fire' in configured) {
    const fire: Hooks['fire'] = (event, facts, options) => configured.fire(event, facts, options);
    return { fire, has: (event, subject) => configured.has(event, subject), close: () => {} };
  }
  const { id, lead, cwd } = session.meta;
  const facts = () => ({
    session_id: id,
    transcript_path: session.journalFile(child?.id ?? lead) ?? '',
    cwd: journal.history.cwd || cwd,
    permission_mode: hookMode(mode()),
    ...(child && { agent_id: child.id, agent_type: child.type }),
  });
  return new HookRunner({ ...configured, facts, journal, feed, clock });
};

/** Returns the mode as hooks get it: `bubble` is internal and allows the same as `default`. */
const hookMode = (mode: AgentMode): AgentMode => (mode === 'bubble' ? 'default' : mode);

/** Runs SessionStart hooks and records their context for the next message. Throws StorageError. */
export const fireSessionStart = async (
  deps: Pick<SessionHookDeps, 'hooks' | 'journal' | 'ids'> & { readonly modelName: string },
  source: StartSource,
  signal: AbortSignal,
): Promise<void> => {
  const facts = { source, model: deps.modelName };
  const verdict = await deps.hooks.fire('SessionStart', facts, { subject: source, signal });
  if (!signal.aborted) recordHookContext(deps, 'SessionStart', verdict);
};

export class SessionHooks {
  private readonly deps: SessionHookDeps;
  private readonly gate: PromptGate;
  private readonly over = new AbortController();
  private cancelIdleTimer: () => void = () => {};
  private ending: Promise<void> | undefined;
  private instructions: Promise<unknown> = Promise.resolve();
  /** True if the next load of instruction files belongs to a new conversation. */
  private isNewConversation = true;
  /** Running hooks that only `end` waits for. */
  private readonly running = new Set<Promise<unknown>>();

  constructor(deps: SessionHookDeps, gate: PromptGate) {
    this.deps = deps;
    this.gate = gate;
  }

  begin(
    source: 'startup' | 'resume',
    staysIdle: boolean,
    configured: HookEquipment | Hooks | undefined,
  ): void {
    const { hooks, feed } = this.deps;
    if (configured !== undefined && 'setups' in configured && hooks.has('InstructionsLoaded')) {
      configured.onInstructions?.((memory, cause) => {
        if (cause === 'touch') this.fireTouched(memory);
        else this.fireWalk(memory);
      });
    }
    if (hooks.has('Notification')) feed.listen((item) => this.notify(item, staysIdle));
    if (hooks.has('SessionStart')) {
      this.gate.runBeforePrompts(async (signal) => {
        // Give the host time to add its listeners.
        await new Promise((resolve) => setImmediate(resolve));
        await this.start(source, signal);
      });
    }
  }

  /** Runs SessionEnd and SessionStart hooks for a new conversation in the same session. */
  clear(): void {
    const { hooks } = this.deps;
    this.isNewConversation = true;
    if (!hooks.has('SessionEnd') && !hooks.has('SessionStart')) return;
    this.gate.runBeforePrompts(async (signal) => {
      await this.fireEnd('clear', signal);
      await this.start('clear', signal);
    });
  }

  /** Runs the last hooks, for 5 s at most. Idempotent. Never rejects. */
  end(reason: EndReason): Promise<void> {
    this.ending ??= this.finish(reason);
    return this.ending;
  }

  private async finish(reason: EndReason): Promise<void> {
    const { clock } = this.deps;
    this.cancelIdleTimer();
    const timeout = new AbortController();
    const cancelTimer = clock.wakeAt(clock.now() + MAX_END_MS, () => {
      this.over.abort();
      timeout.abort();
    });
    // Hooks that started shortly before the end may still finish.
    await Promise.all(this.running);
    this.over.abort();
    await this.fireEnd(reason, timeout.signal);
    cancelTimer();
  }

  private async fireEnd(reason: EndReason, signal: AbortSignal): Promise<void> {
    await this.deps.hooks.fire('SessionEnd', { reason }, { subject: reason, signal });
  }

  private async start(source: StartSource, signal: AbortSignal): Promise<void> {
    try {
      await fireSessionStart({ ...this.deps, modelName: this.deps.model }, source, signal);
    } catch (error) {
      // The next record of the agent meets the same storage failure.
      if (!(error instanceof StorageError)) throw error;
    }
  }

  private notify(item: FeedItem, staysIdle: boolean): void {
    switch (item.type) {
      case 'question.asked':
        this.fireNotification(
          `Permission is needed: ${item.question.description}`,
          'permission_prompt',
        );
        break;
      case 'person.asked':
        this.fireNotification(item.question.question, 'permission_prompt');
        break;
      case 'run.ended':
        if (staysIdle) this.startIdleTimer();
        break;
      case 'request.started':
        this.cancelIdleTimer();
        break;
      default:
        break;
    }
  }

  private startIdleTimer(): void {
    const { clock } = this.deps;
    this.cancelIdleTimer();
    if (this.over.signal.aborted) return;
    this.cancelIdleTimer = clock.wakeAt(clock.now() + IDLE_MS, () =>
      this.fireNotification('The agent waits for your next prompt.', 'idle_prompt'),
    );
  }

  private fireNotification(message: string, type: 'permission_prompt' | 'idle_prompt'): void {
    const facts = { message, title: 'Skein', notification_type: type };
    const { signal } = this.over;
    this.track(this.deps.hooks.fire('Notification', facts, { subject: type, signal }));
  }

  private track(work: Promise<unknown>): void {
    this.running.add(work);
    void work.finally(() => this.running.delete(work));
  }

  private fireWalk({ files }: Memory): void {
    const reason = this.isNewConversation ? 'session_start' : 'compact';
    this.isNewConversation = false;
    for (const file of files) this.fireLoaded(file, reason);
  }

  private fireTouched({ files, rules }: Memory): void {
    for (const file of files) this.fireLoaded(file, 'nested_traversal');
    for (const rule of rules) this.fireLoaded(rule, 'path_glob_match', { globs: rule.paths });
  }

  /**
   * Runs the hooks one after another, so that many files do not start as many processes at once.
   */
  private fireLoaded(
    { path, layer, parent }: MemoryFile,
    cause: LoadReason,
    extraFacts?: HookFacts,
  ): void {
    const reason = parent === null ? cause : 'include';
    const facts: HookFacts = {
      file_path: path,
      memory_type: MEMORY_TYPES[layer],
      load_reason: reason,
      ...(parent !== null && { parent_file_path: parent }),
      ...extraFacts,
    };
    const options = { subject: reason, signal: this.over.signal };
    this.instructions = this.instructions.then(() =>
      this.deps.hooks.fire('InstructionsLoaded', facts, options),
    );
    this.track(this.instructions);
  }
}

type LoadReason = 'session_start' | 'compact' | 'nested_traversal' | 'path_glob_match' | 'include';

const MEMORY_TYPES: Readonly<Record<MemoryLayer, string>> = {
  managed: 'Managed',
  user: 'User',
  project: 'Project',
  local: 'Local',
  auto: 'Auto',
  team: 'Team',
};
