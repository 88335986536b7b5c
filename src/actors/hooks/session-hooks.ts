/** What the hooks of a session hear of it outside of calls: its beginning, its end, and waiting. */
import type { Clock } from '../../protocol/clock.js';
import { StorageError } from '../../protocol/errors.js';
import type { Ids } from '../../protocol/ids.js';
import type { HookSetup, RunHookCommand } from '../../protocol/permission/hook-setup.js';
import { type HookFacts, type Hooks, NO_HOOKS } from '../../protocol/permission/hooks.js';
import type { AgentMode } from '../../protocol/permission/permission.js';
import type { Feed, FeedItem } from '../../protocol/session/feed.js';
import type { Session } from '../../protocol/session/store.js';
import type { Memory, MemoryFile, MemoryLayer, MemoryPorts } from '../../protocol/tools/memory.js';
import type { FeedHub } from '../agent/feed-hub.js';
import type { JournaledState } from '../agent/journaled-state.js';
import type { PromptGate } from '../session/prompt-gate.js';
import { recordHookContext } from './hook-context.js';
import { HookRunner, HookRunState } from './hook-runner.js';

/** Hooks as they are set up, and what runs them. */
export interface HookEquipment {
  readonly setups: readonly HookSetup[];
  readonly runCommand: RunHookCommand;
  /** Tells of instruction files that were loaded, also of those from before it was asked. */
  readonly onInstructions?: (hear: MemoryPorts['loaded']) => void;
  /** Of the session, for the desks of all its agents. */
  readonly memory?: HookRunState;
}

/** For the agents of one session: what is to run once runs once for all of them. */
export const withMemory = <Given extends HookEquipment | Hooks | undefined>(given: Given): Given =>
  given === undefined || 'fire' in given ? given : { ...given, memory: new HookRunState() };

export interface SessionHookDeps {
  readonly hooks: Hooks;
  readonly notebook: JournaledState;
  readonly feed: FeedHub;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly model: string;
}

type StartSource = 'startup' | 'resume' | 'clear' | 'compact';
export type EndReason = 'clear' | 'prompt_input_exit' | 'other';

/** So that leaving never hangs. */
export const END_WITHIN_MS = 5_000;
const IDLE_MS = 60_000;

interface DeskDeps extends Pick<SessionHookDeps, 'notebook' | 'clock'> {
  readonly feed: Feed;
  readonly mode: () => AgentMode;
  /** Left out, the lead. */
  readonly child?: { readonly id: string; readonly type: string } | undefined;
}

export const openDesk = (
  given: HookEquipment | Hooks | undefined,
  session: Session,
  { notebook, feed, clock, mode, child }: DeskDeps,
): Hooks & { close(): void } => {
  if (given === undefined) return { ...NO_HOOKS, close: () => {} };
  if ('fire' in given) {
    const fire: Hooks['fire'] = (event, facts, terms) => given.fire(event, facts, terms);
    return { fire, has: (event, subject) => given.has(event, subject), close: () => {} };
  }
  const { id, lead, cwd } = session.meta;
  const facts = () => ({
    session_id: id,
    transcript_path: session.journalFile(child?.id ?? lead) ?? '',
    cwd: notebook.history.cwd || cwd,
    permission_mode: told(mode()),
    ...(child && { agent_id: child.id, agent_type: child.type }),
  });
  return new HookRunner({ ...given, facts, notebook, feed, clock });
};

/** Scripts know the modes of people; an agent whose questions go up allows by itself what `default` does. */
const told = (mode: AgentMode): AgentMode => (mode === 'bubble' ? 'default' : mode);

/** Its context waits for the next message. Throws a StorageError. */
export const fireSessionStart = async (
  deps: Pick<SessionHookDeps, 'hooks' | 'notebook' | 'ids'> & { readonly modelName: string },
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
  private forgetIdle: () => void = () => {};
  private ending: Promise<void> | undefined;
  private instructions: Promise<unknown> = Promise.resolve();
  /** The next walk over instruction files is that of a beginning. */
  private isAnew = true;
  /** Hooks that nobody waits for but the end. */
  private readonly underway = new Set<Promise<unknown>>();

  constructor(deps: SessionHookDeps, gate: PromptGate) {
    this.deps = deps;
    this.gate = gate;
  }

  begin(
    source: 'startup' | 'resume',
    lingers: boolean,
    given: HookEquipment | Hooks | undefined,
  ): void {
    const { hooks, feed } = this.deps;
    if (given !== undefined && 'setups' in given && hooks.has('InstructionsLoaded')) {
      given.onInstructions?.((memory, because) => {
        if (because === 'touch') this.tellTouched(memory);
        else this.tellWalk(memory);
      });
    }
    if (hooks.has('Notification')) feed.listen((item) => this.notify(item, lingers));
    if (hooks.has('SessionStart')) {
      this.gate.hold(async (signal) => {
        // Whoever opens the session can listen first.
        await new Promise((resolve) => setImmediate(resolve));
        await this.start(source, signal);
      });
    }
  }

  /** The conversation has begun anew within the session. */
  clear(): void {
    const { hooks } = this.deps;
    this.isAnew = true;
    if (!hooks.has('SessionEnd') && !hooks.has('SessionStart')) return;
    this.gate.hold(async (signal) => {
      await this.fireEnd('clear', signal);
      await this.start('clear', signal);
    });
  }

  /** Runs the last hooks, for a few seconds at most. May be called again; never rejects. */
  end(reason: EndReason): Promise<void> {
    this.ending ??= this.finish(reason);
    return this.ending;
  }

  private async finish(reason: EndReason): Promise<void> {
    const { clock } = this.deps;
    this.forgetIdle();
    const late = new AbortController();
    const forget = clock.wakeAt(clock.now() + END_WITHIN_MS, () => {
      this.over.abort();
      late.abort();
    });
    // What a short session has said last is still heard.
    await Promise.all(this.underway);
    this.over.abort();
    await this.fireEnd(reason, late.signal);
    forget();
  }

  private async fireEnd(reason: EndReason, signal: AbortSignal): Promise<void> {
    await this.deps.hooks.fire('SessionEnd', { reason }, { subject: reason, signal });
  }

  private async start(source: StartSource, signal: AbortSignal): Promise<void> {
    try {
      await fireSessionStart({ ...this.deps, modelName: this.deps.model }, source, signal);
    } catch (error) {
      // The agent meets the same disk with its own next record.
      if (!(error instanceof StorageError)) throw error;
    }
  }

  private notify(item: FeedItem, lingers: boolean): void {
    switch (item.type) {
      case 'question.asked':
        this.announce(`Permission is needed: ${item.question.description}`, 'permission_prompt');
        break;
      case 'person.asked':
        this.announce(item.question.question, 'permission_prompt');
        break;
      case 'run.ended':
        if (lingers) this.waitForPerson();
        break;
      case 'request.started':
        this.forgetIdle();
        break;
      default:
        break;
    }
  }

  private waitForPerson(): void {
    const { clock } = this.deps;
    this.forgetIdle();
    if (this.over.signal.aborted) return;
    this.forgetIdle = clock.wakeAt(clock.now() + IDLE_MS, () =>
      this.announce('The agent waits for your next prompt.', 'idle_prompt'),
    );
  }

  private announce(message: string, type: 'permission_prompt' | 'idle_prompt'): void {
    const facts = { message, title: 'Skein', notification_type: type };
    const { signal } = this.over;
    this.track(this.deps.hooks.fire('Notification', facts, { subject: type, signal }));
  }

  private track(work: Promise<unknown>): void {
    this.underway.add(work);
    void work.finally(() => this.underway.delete(work));
  }

  private tellWalk({ files }: Memory): void {
    const reason = this.isAnew ? 'session_start' : 'compact';
    this.isAnew = false;
    for (const file of files) this.tellOf(file, reason);
  }

  private tellTouched({ files, rules }: Memory): void {
    for (const file of files) this.tellOf(file, 'nested_traversal');
    for (const rule of rules) this.tellOf(rule, 'path_glob_match', { globs: rule.paths });
  }

  /** One after another, so that many files are not as many processes at once. */
  private tellOf({ path, layer, parent }: MemoryFile, because: LoadReason, more?: HookFacts): void {
    const reason = parent === null ? because : 'include';
    const facts: HookFacts = {
      file_path: path,
      memory_type: MEMORY_TYPES[layer],
      load_reason: reason,
      ...(parent !== null && { parent_file_path: parent }),
      ...more,
    };
    const terms = { subject: reason, signal: this.over.signal };
    this.instructions = this.instructions.then(() =>
      this.deps.hooks.fire('InstructionsLoaded', facts, terms),
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
