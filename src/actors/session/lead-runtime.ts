/**
 * Builds the dependencies of a lead and its swarm: in the process that runs the lead, and in
 * workers.
 */
import { RunUsage } from '../../context/budget/run-usage.js';
import type { Spending } from '../../context/budget/spending.js';
import { CommonFailures } from '../../context/common-failures.js';
import { capabilitiesOf } from '../../protocol/model/providers.js';
import type { AgentDeps } from '../agent/agent.js';
import { FeedHub } from '../agent/feed-hub.js';
import { runBudget } from '../budget/run-budget.js';
import { type BackgroundCommands, backgroundCommands } from '../calls/background-commands.js';
import { openHooks, withRunState } from '../hooks/session-hooks.js';
import { PromptHeadManager } from '../prompt-cache/prompt-head-manager.js';
import type { Swarm } from '../swarm/swarm.js';
import type { BegunSession } from './begin-session.js';
import type { LeadServices, SessionOptions } from './lead-session.js';
import { leadSwarm } from './lead-swarm.js';
import { treeSpending } from './tree-spending.js';

/** A lead in its opened session. */
export interface OpenedLead extends Pick<BegunSession, 'session' | 'model' | 'head' | 'journal'> {
  /** True if another process runs the lead, and this process only reads it. Default: false. */
  readonly isRemote?: boolean;
}

export interface LeadRuntime {
  readonly swarm: Swarm;
  readonly deps: AgentDeps;
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
  { session, model, head, journal, isRemote = false }: OpenedLead,
  services: LeadServices,
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
  const { permissions, checkpoints } = services;
  // In a shared store other processes can write records, so grants in the journal are ignored and
  // people are asked again.
  if (options.store.jobs.local !== undefined) permissions.addSessionRules(journal.history.grants);
  const jobs = backgroundCommands({ shell: services.shell, journal, feed, ids, clock });
  const hookEquipment = withRunState(options.hooks);
  const hooks = openHooks(hookEquipment, session, {
    journal,
    feed,
    clock,
    mode: () => permissions.mode,
  });
  const caps = { ...options.budget, turns: services.limits.maxTurns };
  const budget = runBudget(caps, journal.history, used);
  const isLimited = Object.values(caps).some((cap) => cap !== null);
  const lead = {
    ...services,
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
    failures: new CommonFailures(),
    betas: () => (capabilities.betas ? journal.history.betas.with(betas) : []),
    budget,
  };
  const { swarm, deps } = leadSwarm(
    {
      session,
      store: options.store,
      owner: options.owner,
      hooks: hookEquipment,
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
  return { swarm, deps, feed, promptHead, jobs, hooks, spent, used };
};
