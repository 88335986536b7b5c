/** Equips the lead of a session for its swarm: in the process that runs it, and in those that work for it elsewhere. */

import { RunUsage } from '../../context/budget/run-usage.js';
import type { Spending } from '../../context/budget/spending.js';
import { CommonFailures } from '../../context/common-failures.js';
import type { PromptHead } from '../../protocol/model/prompt.js';
import { capabilitiesOf } from '../../protocol/model/providers.js';
import type { Session, SessionMeta, SessionStore } from '../../protocol/session/store.js';
import type { AgentDeps } from '../agent/agent.js';
import { FeedHub } from '../agent/feed-hub.js';
import type { JournaledState } from '../agent/journaled-state.js';
import { runBudget } from '../budget/run-budget.js';
import { type SessionJobs, sessionJobs } from '../calls/background-commands.js';
import type { Checkpointer } from '../checkpoints/checkpointer.js';
import { openDesk, withMemory } from '../hooks/session-hooks.js';
import { PromptHeadManager } from '../prompt-cache/prompt-head-manager.js';
import type { Swarm } from '../swarm/swarm.js';
import type { OpenedSession, SessionOptions } from './lead-session.js';
import { openSwarm } from './lead-swarm.js';
import { treeSpending } from './tree-spending.js';

/** What is known of the lead already. */
export interface LeadPast {
  readonly session: Session;
  readonly model: string;
  readonly head: PromptHead;
  readonly notebook: JournaledState;
  readonly checkpoints: Checkpointer | undefined;
  /** Another process runs it: here it is only read. */
  readonly isElsewhere?: boolean;
}

export interface EquippedLead {
  readonly swarm: Swarm;
  readonly deps: AgentDeps;
  readonly equipment: ReturnType<SessionOptions['equip']>;
  readonly feed: FeedHub;
  readonly shelf: PromptHeadManager;
  readonly jobs: SessionJobs;
  readonly hooks: ReturnType<typeof openDesk>;
  readonly spent: Spending;
  /** In the run that is under way, before this process. */
  readonly used: RunUsage['used'];
}

export const equipLead = async (
  options: SessionOptions,
  { session, model, head, notebook, checkpoints, isElsewhere = false }: LeadPast,
): Promise<EquippedLead> => {
  const { meta } = session;
  const { briefing, requestSettings, capabilities = capabilitiesOf('firstParty') } = options;
  const { ids, clock, betas = [] } = options;
  const usage = new RunUsage(meta.lead, notebook.history.run);
  const spent = await treeSpending(options.store, meta, notebook.history, usage);
  const used = isElsewhere ? usage.soFar : usage.used;
  const feed = new FeedHub(options.wantsStreamEvents);
  const shelf = new PromptHeadManager(
    { session, notebook, briefing, capabilities, requestSettings, model },
    head,
  );
  const equipment = options.equip({
    meta,
    artifacts: session.artifactDirectory(),
    inherited: await inheritedArtifacts(options.store, meta),
    putArtifact: (name, bytes) => session.putArtifact(name, bytes),
    tools: head.tools,
  });
  // Where others can write it, a record must allow nothing: people are asked again.
  if (options.store.jobs.own !== undefined) equipment.desk.recall(notebook.history.grants);
  const jobs = sessionJobs({ shell: equipment.shell, notebook, feed, ids, clock });
  const given = withMemory(options.hooks);
  const hooks = openDesk(given, session, {
    notebook,
    feed,
    clock,
    mode: () => equipment.desk.mode,
  });
  const caps = { ...options.budget, turns: equipment.limits.maxTurns };
  const grant = runBudget(caps, notebook.history, used);
  const isLimited = Object.values(caps).some((cap) => cap !== null);
  const lead = {
    ...equipment,
    hooks,
    notebook,
    feed,
    shelf,
    briefing,
    modelName: model,
    agent: meta.lead,
    ids,
    clock,
    jobs: jobs.table,
    diagnostics: capabilities.diagnostics,
    checkpoints,
    failures: new CommonFailures(),
    betas: () => (capabilities.betas ? notebook.history.betas.with(betas) : []),
    grant,
  };
  const { swarm, deps } = openSwarm(
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
      carry: (used) => grant.carry(used),
      setup: options.swarm,
      terms: options.terms,
    },
    lead,
    { spent, isElsewhere, isLimited },
  );
  return { swarm, deps, equipment, feed, shelf, jobs, hooks, spent, used };
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
