/** What all agents of a swarm share, whoever they work for. */
import type { UsedBefore } from '../../context/budget/ledger.js';
import type { RunUsage } from '../../context/budget/run-usage.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import type { SwarmLimits } from '../../protocol/agent/leader.js';
import type { Budget } from '../../protocol/model/budget.js';
import type { ContextProvider } from '../../protocol/model/context-provider.js';
import type { Capabilities } from '../../protocol/model/providers.js';
import type { RunHookCommand } from '../../protocol/permission/hook-setup.js';
import type { Hooks } from '../../protocol/permission/hooks.js';
import type { Checkpoints } from '../../protocol/session/checkpoint.js';
import type { Queueing } from '../../protocol/session/job-queue.js';
import type { Session, SessionStore } from '../../protocol/session/store.js';
import type { Shell } from '../../protocol/tools/tool.js';
import type { Clones, WorktreePlace, Worktrees } from '../../protocol/tools/worktree.js';
import type { Toolbox } from '../../tools/toolbox.js';
import type { AgentDeps } from '../agent/agent.js';
import type { HookEquipment } from '../hooks/session-hooks.js';
import type { PrefixWarmup } from '../prompt-cache/prefix-warmup.js';
import type { PromptHeadOptions } from '../prompt-cache/prompt-head-manager.js';
import type { RemoteDispatch } from '../remote/remote-dispatch.js';
import type { TimeLimits } from '../swarm/agent-timeouts.js';
import type { SubtreeTotals } from './subtree-totals.js';

/** A prompt and a tool list of its own, for an agent whose definition asks for them. */
export interface OwnPrompt {
  readonly briefing: ContextProvider;
  readonly toolbox: Toolbox;
}

/** What a host says of the agents that a lead may start. */
export interface SwarmSetup {
  readonly definitions: readonly AgentDefinition[];
  /** Those that somebody described in a way that cannot be used, each with a sentence about what to mend. */
  readonly unusable: readonly { readonly name: string; readonly problem: string }[];
  readonly limits: SwarmLimits;
  readonly times: TimeLimits;
  /** How background agents go into the queue of workers, where there is one. */
  readonly queueing?: Queueing;
  /** What a name that people know stands for. */
  readonly modelNamed: (name: string) => string;
  readonly ownPrompt: (definition: AgentDefinition) => OwnPrompt;
  /** Runs the hooks of definitions. */
  readonly runHook: RunHookCommand;
  /** Left out where no agent can have a worktree of its own. */
  readonly worktrees?: Worktrees | undefined;
  /** Where agents work that were handed to another machine; left out where there is no remote for that. */
  readonly clones?: Clones | undefined;
  /** The shell of one that works there; left out, that of everybody. */
  readonly shellIn?: ((place: WorktreePlace) => Shell) | undefined;
}

export interface SwarmContext {
  readonly setup: SwarmSetup;
  readonly store: SessionStore;
  readonly session: Session;
  /** What marks this process as the owner of background agents. */
  readonly worker: string;
  readonly warmth: PrefixWarmup;
  readonly hooks: HookEquipment | Hooks | undefined;
  readonly capabilities: Capabilities;
  readonly requestSettings: PromptHeadOptions['requestSettings'];
  readonly betas: readonly string[];
  /** For all: what they change is on record with the lead. */
  readonly checkpoints: Checkpoints | undefined;
  /** What agents that are about to begin again have left of their grants. */
  readonly kept: Map<string, Budget>;
  /** The way to agents that other processes work on; undefined where there are none. */
  readonly dispatch: RemoteDispatch | undefined;
  /** What the whole swarm has used up, as far as the index was read. */
  readonly usage: RunUsage;
  /** Other processes have used up so much of what there is. */
  readonly carry: (used: UsedBefore) => void;
  /** What makes agents able to ask for others. */
  readonly agentsFor: (id: string) => AgentDeps['agents'];
  /** What came of those below an agent that is taken up again. */
  readonly below: (id: string) => Promise<SubtreeTotals>;
}

/** The definition of a type as it is now; undefined for a fork, and for a type that is gone. */
export const definitionOf = (
  { setup }: SwarmContext,
  type: string | null,
): AgentDefinition | undefined =>
  type === null ? undefined : setup.definitions.find(({ name }) => name === type);
