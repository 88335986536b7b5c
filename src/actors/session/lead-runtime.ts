/**
 * Builds the dependencies of a lead and its swarm: in the process that runs the lead, and in
 * workers.
 */
import { RunUsage } from '../../context/budget/run-usage.js';
import type { Spending } from '../../context/budget/spending.js';
import { CommonFailures } from '../../context/common-failures.js';
import type { PromptHead } from '../../protocol/model/prompt-head.js';
import { capabilitiesOf } from '../../protocol/model/providers.js';
import type { OwnedSession } from '../../protocol/session/owned-session.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/session-store.js';
import type { AgentDeps } from '../agent/agent.js';
import { FeedHub } from '../agent/feed-hub.js';
import type { JournaledState } from '../agent/journaled-state.js';
import { runBudget } from '../budget/run-budget.js';
import { type BackgroundCommands, backgroundCommands } from '../calls/background-commands.js';
import type { Checkpointer } from '../checkpoints/checkpointer.js';
import { openHooks, withRunState } from '../hooks/session-hooks.js';
import { PromptHeadManager } from '../prompt-cache/prompt-head-manager.js';
import type { Swarm } from '../swarm/swarm.js';
import type { OpenedSession, SessionOptions } from './lead-session.js';
import { leadSwarm } from './lead-swarm.js';
import { treeSpending } from './tree-spending.js';

/** Opened session and journaled state of the lead. */
interface LeadRuntimeOptions {
  readonly session: OwnedSession;
  readonly model: string;
  readonly head: PromptHead;
  readonly journal: JournaledState;
  readonly checkpoints: Checkpointer | undefined;
  /** True if another process runs the lead, and this process only reads it. */
  readonly isRemote?: boolean;
}

export interface LeadRuntime {
  readonly swarm: Swarm;
  readonly deps: AgentDeps;
  readonly equipment: ReturnType<SessionOptions['equip']>;
  readonly feed: FeedHub;
  readonly promptHead: PromptHeadManager;
  readonly jobs: BackgroundCommands;
  readonly hooks: ReturnType<typeof openHooks>;
  readonly spent: Spending;
  /** Usage of the current run before this process started. */
  readonly used: RunUsage['used'];
}

export const openLeadRuntime = async (
  options: SessionOptions,
  { session, model, head, journal, checkpoints, isRemote = false }: LeadRuntimeOptions,
): Promise<LeadRuntime> => {
  const { meta } = session;
  const { contextProvider, requestSettings, capabilities = capabilitiesOf('firstParty') } = options;
  const { ids, clock, betas = [] } = options;
  const usage = new RunUsage(meta.lead, journal.history.currentRun);
  const spent = await treeSpending(options.store, meta, journal.history, usage);
  const used = isRemote ? usage.soFar : usage.used;
  const feed = new FeedHub(options.wantsStreamEvents);
  const promptHead = new PromptHeadManager(
    { session, journal, contextProvider, capabilities, requestSettings, model },
    head,
  );
  const equipment = options.equip({
    meta,
    artifacts: session.artifactDirectory(),
    inherited: await inheritedArtifacts(options.store, meta),
    putArtifact: (name, bytes) => session.putArtifact(name, bytes),
    tools: head.tools,
  });
  // In a shared store other processes can write records, so grants in the journal are ignored and
  // people are asked again.
  if (options.store.jobs.local !== undefined)
    equipment.permissions.addSessionRules(journal.history.grants);
  const jobs = backgroundCommands({ shell: equipment.shell, journal, feed, ids, clock });
  const given = withRunState(options.hooks);
  const hooks = openHooks(given, session, {
    journal,
    feed,
    clock,
    mode: () => equipment.permissions.mode,
  });
  const caps = { ...options.budget, turns: equipment.limits.maxTurns };
  const budget = runBudget(caps, journal.history, used);
  const isLimited = Object.values(caps).some((cap) => cap !== null);
  const lead = {
    ...equipment,
    hooks,
    journal,
    feed,
    promptHead,
    contextProvider,
    modelName: model,
    agent: meta.lead,
    ids,
    clock,
    jobs: jobs.table,
    diagnostics: capabilities.diagnostics,
    checkpoints,
    failures: new CommonFailures(),
    betas: () => (capabilities.betas ? journal.history.betas.with(betas) : []),
    budget,
  };
  const { swarm, deps } = leadSwarm(
    {
      session,
      store: options.store,
      worker: options.owner,
      hooks: given,
      capabilities,
      requestSettings,
      betas,
      checkpoints,
      usage,
      carry: (used) => budget.carry(used),
      setup: options.swarm,
      leadConfig: options.leadConfig,
    },
    lead,
    { spent, isRemote, isLimited },
  );
  return { swarm, deps, equipment, feed, promptHead, jobs, hooks, spent, used };
};

const inheritedArtifacts = async (
  store: SessionStore,
  { parentId }: SessionMeta,
): Promise<OpenedSession['inherited']> => {
  if (parentId === null) return [];
  const parents = new Map((await store.list()).map((meta) => [meta.id, meta.parentId]));
  const found = new Set<string>();
  for (let id: string | null = parentId; id !== null && !found.has(id); ) {
    found.add(id);
    id = parents.get(id) ?? null;
  }
  return [...found].flatMap((session) => {
    const folder = store.artifactsOf(session);
    return folder === undefined ? [] : [{ session, folder }];
  });
};
