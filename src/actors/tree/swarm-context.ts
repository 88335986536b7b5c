/** The context that all agents of a swarm share. */
import type { UsedBefore } from '../../context/budget/ledger.js';
import type { RunUsage } from '../../context/budget/run-usage.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import type { SwarmLimits } from '../../protocol/agent/swarm-limits.js';
import type { Budget } from '../../protocol/model/budget.js';
import type { ContextProvider } from '../../protocol/model/context-provider.js';
import type { Capabilities } from '../../protocol/model/providers.js';
import type { RunHookCommand } from '../../protocol/permission/hook-setup.js';
import type { Hooks } from '../../protocol/permission/hooks.js';
import type { Checkpoints } from '../../protocol/session/checkpoints.js';
import type { EnqueueOptions } from '../../protocol/session/job-queue.js';
import type { OwnedSession } from '../../protocol/session/owned-session.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import type { Shell } from '../../protocol/tools/shell.js';
import type { Clones, WorktreeLocation, Worktrees } from '../../protocol/tools/worktrees.js';
import type { Toolbox } from '../../tools/toolbox.js';
import type { AgentDeps } from '../agent/agent.js';
import type { HookEquipment } from '../hooks/session-hooks.js';
import type { PrefixWarmup } from '../prompt-cache/prefix-warmup.js';
import type { PromptHeadOptions } from '../prompt-cache/prompt-head-manager.js';
import type { RemoteDispatch } from '../remote/remote-dispatch.js';
import type { TimeLimits } from '../swarm/agent-timeouts.js';
import type { SubtreeTotals } from './subtree-totals.js';

/** Prompt and tools of an agent whose definition replaces the shared prompt. */
export interface OwnPrompt {
  readonly contextProvider: ContextProvider;
  readonly toolbox: Toolbox;
}

/** Configuration of the agents that a lead may spawn. */
export interface SwarmSetup {
  readonly definitions: readonly AgentDefinition[];
  /** Invalid definitions, each with a sentence that says how to fix it. */
  readonly unusable: readonly { readonly name: string; readonly problem: string }[];
  readonly limits: SwarmLimits;
  readonly times: TimeLimits;
  /** Priority and delay of background agents in the queue of workers. */
  readonly queueing?: EnqueueOptions;
  /** Resolves a model alias. */
  readonly modelNamed: (name: string) => string;
  readonly ownPrompt: (definition: AgentDefinition) => OwnPrompt;
  /** Runs the hooks of definitions. */
  readonly runHook: RunHookCommand;
  /** Undefined if agents cannot have worktrees. */
  readonly worktrees?: Worktrees | undefined;
  /** Clones of the repository for workers on other machines. Undefined without a git remote. */
  readonly clones?: Clones | undefined;
  /** Returns the shell of an agent in a worktree. Default: the shared shell. */
  readonly shellIn?: ((location: WorktreeLocation) => Shell) | undefined;
}

export interface SwarmContext {
  readonly setup: SwarmSetup;
  readonly store: SessionStore;
  readonly session: OwnedSession;
  /** Marker of this process as the owner of background agents. */
  readonly owner: string;
  readonly prefixWarmup: PrefixWarmup;
  readonly hooks: HookEquipment | Hooks | undefined;
  readonly capabilities: Capabilities;
  readonly requestSettings: PromptHeadOptions['requestSettings'];
  readonly betas: readonly string[];
  /** Checkpoints of all agents. File changes are journaled with the lead. */
  readonly checkpoints: Checkpoints | undefined;
  /** Remaining budgets of agents that are being restarted, by agent. */
  readonly keptBudgets: Map<string, Budget>;
  /** Queue and mailbox of remote agents. Undefined if one process runs the whole swarm. */
  readonly dispatch: RemoteDispatch | undefined;
  /** Spending of the whole swarm, as far as the event index was read. */
  readonly usage: RunUsage;
  /** Adds spending of other processes to the budget of the run. */
  readonly carry: (used: UsedBefore) => void;
  /** Returns the port through which an agent spawns others. */
  readonly agentsFor: (id: string) => AgentDeps['agents'];
  /** Returns the totals of the descendants of a restarted agent. */
  readonly subtreeTotals: (id: string) => Promise<SubtreeTotals>;
}

/** Returns the present definition of a type. Returns undefined for a fork and for an unknown type. */
export const definitionOf = (
  { setup }: SwarmContext,
  type: string | null,
): AgentDefinition | undefined =>
  type === null ? undefined : setup.definitions.find(({ name }) => name === type);
