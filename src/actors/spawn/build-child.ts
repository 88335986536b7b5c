/**
 * Records a new child, loads a child from its journal, and builds the node of either. New and rebuilt children
 * are built by the same function, so a restarted child has what it had before.
 */
import { Spending } from '../../context/budget/spending.js';
import { forkDirective } from '../../prompt/messages/fork-directive.js';
import { teammateTask } from '../../prompt/messages/role-text.js';
import { worktreeTask } from '../../prompt/messages/worktree-task.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { PromptHead } from '../../protocol/model/prompt-head.js';
import { rawText } from '../../protocol/model/wire-block.js';
import type { Journal, JournalContents } from '../../protocol/session/journal.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { AgentOrigin } from '../../protocol/session/swarm-records.js';
import { StorageError } from '../../protocol/skein-error.js';
import { agentLabel } from '../../tools/agents/agent-report.js';
import type { AgentDeps } from '../agent/agent.js';
import { childFeed } from '../agent/feed-hub.js';
import { JournaledState } from '../agent/journaled-state.js';
import { childBudget } from '../budget/child-budget.js';
import { backgroundCommands } from '../calls/background-commands.js';
import { childHooks } from '../hooks/child-hooks.js';
import { openHooks } from '../hooks/session-hooks.js';
import { askerOf } from '../permissions/ask-surfaces.js';
import { childPermissions } from '../permissions/child-permissions.js';
import { childPrefixPolicy } from '../prompt-cache/prefix-policy.js';
import {
  newestPrompt,
  PromptHeadManager,
  readHead,
  storeHead,
} from '../prompt-cache/prompt-head-manager.js';
import { type AgentNode, allSiblingsOf, type ChildNode, siblingsOf } from '../tree/agent-node.js';
import { tagOf } from '../tree/agent-registry.js';
import { forkPointOf, inheritedBy } from '../tree/fork-point.js';
import type { SubtreeTotals } from '../tree/subtree-totals.js';
import { definitionOf, type OwnPrompt, type SwarmContext } from '../tree/swarm-context.js';
import { isMergedBack, mergeBack } from '../worktrees/merge-back.js';
import {
  openAgentWorktree,
  reopenAgentWorktree,
  worktreeEquipment,
} from '../worktrees/open-agent-worktree.js';
import { openWorkerClone } from '../worktrees/open-worker-clone.js';
import { childContext } from './child-context.js';

/** A child without records. */
export interface NewChild {
  readonly id: string;
  readonly parent: AgentNode;
  readonly origin: AgentOrigin;
  readonly model: string;
  readonly prompt: string;
  /** True if the child gets its own worktree. */
  readonly isIsolated: boolean;
}

/** A child that is in its journal and is not built yet. */
export interface RecordedChild {
  readonly id: string;
  readonly parent: AgentNode;
  readonly origin: AgentOrigin;
  readonly model: string;
  readonly journal: JournaledState;
  readonly head: PromptHead;
  /** Prompt and tools of the child's own definition. Undefined if the child shares those of its prompt donor. */
  readonly own: OwnPrompt | undefined;
  /** Totals of the descendants of a rebuilt child. */
  readonly below?: SubtreeTotals | undefined;
}

/** Called whenever the agent does something. */
export type OnActivity = (id: string) => void;

/**
 * Journals the first records of a new child: its creation and its task. Nothing else is made for the child, so
 * a child that is handed to a worker costs no more. Rejects with StorageError or AgentRefusal.
 */
export const recordChild = async (
  context: SwarmContext,
  { id, parent, origin: requestedOrigin, model, prompt, isIsolated }: NewChild,
): Promise<RecordedChild> => {
  const origin = isIsolated
    ? await openAgentWorktree(context, parent, id, requestedOrigin)
    : requestedOrigin;
  const own = ownPromptOf(context, origin);
  const cwd = origin.worktree?.cwd ?? parent.deps.journal.history.cwd;
  const { head, name } = await headOf(context, promptDonor(parent, origin), own, { cwd, model });
  const base = origin.inherits === undefined ? undefined : forkPointOf(parent).base;
  const log = await context.session.journal(id, parent.id);
  const creation = { agent: id, parent: parent.id, cwd, model, prompt: name, origin };
  const { records } = log.past;
  // A process that died here may have journaled the creation without the task.
  const ownRecords = isCreated(records)
    ? records
    : [log.append({ type: 'agent.created', ...creation })];
  const journal = new JournaledState(log, ownRecords, base);
  const task = taskOf(origin, prompt, hiddenTools(parent));
  const text = base === undefined ? task : forkDirective(task);
  const { ids } = parent.deps;
  journal.record({
    type: 'letter.received',
    letter: ids('letter'),
    from: parent.id,
    raw: `[${rawText(text)}]`,
  });
  return { id, parent, origin, model, journal, head, own };
};

const teamOf = ({ name = '', team }: AgentOrigin) =>
  team === undefined ? undefined : { name, team };

/** Returns the tools that the prompts of the parent and its children do not show. */
const hiddenTools = ({ deps: { toolbox } }: AgentNode): ReadonlySet<string> => {
  const shown = new Set(toolbox.visible);
  return new Set(toolbox.all.flatMap((tool) => (shown.has(tool) ? [] : [tool.name])));
};

const taskOf = (origin: AgentOrigin, prompt: string, hidden: ReadonlySet<string>): string => {
  const team = teamOf(origin);
  const task = origin.worktree === undefined ? prompt : worktreeTask(prompt, origin.worktree);
  return team === undefined ? task : teammateTask(task, team, hidden);
};

/** Marks a restarted child as owned by this process and reopens its worktree. Rejects with AgentRefusal. */
export const beginEpoch = async (context: SwarmContext, child: ChildNode): Promise<void> => {
  await reopenAgentWorktree(context, child);
  child.deps.journal.record({ type: 'epoch.began', owner: context.owner });
};

const isCreated = (records: readonly JournalRecord[]): boolean =>
  records.some(({ type }) => type === 'agent.created');

/** Rebuilds a child from its journal. Returns undefined if it has no task yet. Rejects with StorageError. */
export const rebuildChild = async (
  context: SwarmContext,
  id: string,
  parent: AgentNode,
  onActivity: OnActivity,
  open: typeof openJournal = openJournal,
): Promise<ChildNode | undefined> => {
  const { session, store } = context;
  const log = await open(context, id, parent.id);
  const { records } = log.past;
  const isOwner = open === openJournal;
  const created = records.find((record) => record.type === 'agent.created');
  const isTold = records.some(({ type }) => type === 'letter.received');
  if (created?.type !== 'agent.created' || created.origin === undefined || !isTold) {
    const damaged = log.past.lost && new JournaledState(log, records);
    if (isOwner) await repairDamage(context, id, parent, log.past, damaged);
    return undefined;
  }
  const { origin: recordedOrigin, model } = created;
  const base = await inheritedBy(store, session.meta.id, recordedOrigin.inherits);
  const journal = new JournaledState(log, records, base);
  if (isOwner && (await repairDamage(context, id, parent, log.past, journal)))
    return rebuildChild(context, id, parent, onActivity, open);
  if (isOwner && session.losses !== undefined) {
    const { recordCopiedLoss } = await import('../agent/record-loss.js');
    await recordCopiedLoss(session, id, journal, parent.deps.ids);
  }
  if (isOwner) await openWorkerClone(context, id, journal, parent);
  const { place: worktree } = journal.history.relations;
  const origin = worktree === undefined ? recordedOrigin : { ...recordedOrigin, worktree };
  const donor = promptDonor(parent, origin);
  const head = await keptHead(context, donor, newestPrompt(records) ?? created.prompt);
  const own = ownPromptOf(context, origin) ?? (origin.ownPrompt ? fixedPrompt(donor) : undefined);
  const below = journal.history.relations.isParent ? await context.subtreeTotals(id) : undefined;
  const recorded = { id, parent, origin, model, journal, head, own, below };
  const child = buildChild(context, recorded, onActivity);
  // A process may have died between the end of the child and the merge of its worktree.
  const isOver = finalStopOf(child) !== undefined && open === openJournal;
  if (isOver && !isMergedBack(child)) await mergeBack(context, child);
  return child;
};

/**
 * Shows the damage of a child's journal, and repairs the journal if records were lost. Resolves with
 * true if it was repaired: then it is closed, because an open journal does not show later records.
 */
const repairDamage = async (
  { session }: SwarmContext,
  id: string,
  parent: AgentNode,
  { damage, lost }: JournalContents,
  journal: JournaledState | undefined,
): Promise<boolean> => {
  const { feed, ids } = leadOf(parent).deps;
  const isRepaired =
    journal !== undefined && (lost !== undefined || journal.history.isInconsistent);
  let sentences = damage;
  if (isRepaired) {
    const { repairJournal } = await import('../agent/repair-journal.js');
    const path = session.journalFile(id) ?? `The journal of ${id}`;
    sentences = repairJournal(journal, { damage, lost }, ids, path);
    await session.closeJournal(id);
  }
  for (const text of sentences) feed.emit({ type: 'notice', text, isDamage: true });
  return isRepaired;
};

const openJournal = ({ session }: SwarmContext, id: string, parent: string): Promise<Journal> =>
  session.journal(id, parent);

/** Opens a journal for reading, because another process may write to it. */
export const readOnlyJournal: typeof openJournal = async ({ store, session }, id) => ({
  past: await store.readJournal(session.meta.id, id),
  append() {
    throw new StorageError(`The journal of ${id} is open for reading only.`);
  },
  written: () => undefined,
  sync: async () => {},
});

/** Returns the agent whose prompt the child shares: the parent of a fork, else the lead. */
const promptDonor = (parent: AgentNode, { inherits }: AgentOrigin): AgentNode =>
  inherits === undefined ? leadOf(parent) : parent;

const leadOf = (node: AgentNode | ChildNode): AgentNode =>
  'parent' in node ? leadOf(node.parent) : node;

/** Returns the journaled stop of an ended agent. Returns undefined if the agent has not ended. */
export const finalStopOf = ({ deps }: AgentNode): Stop | undefined => {
  const { ended } = deps.journal.history;
  return ended?.final ? { reason: ended.reason, detail: ended.detail } : undefined;
};

/** True if the ended agent has a letter or a queue entry that should resume it. */
export const isRestartWanted = ({ deps }: AgentNode): boolean =>
  deps.journal.history.clock.isResumeDue;

const ownPromptOf = (
  context: SwarmContext,
  { ownPrompt, type }: AgentOrigin,
): OwnPrompt | undefined => {
  const definition = ownPrompt ? definitionOf(context, type) : undefined;
  return definition && context.setup.ownPrompt(definition);
};

/** The prompt of a child whose definition is gone: the child keeps the prompt that it has. */
const fixedPrompt = ({ deps: { contextProvider, toolbox, promptHead } }: AgentNode): OwnPrompt => ({
  toolbox,
  contextProvider: {
    ...contextProvider,
    mayChange: false,
    isStale: () => false,
    head: async ({ kept }) => kept ?? promptHead.head,
  },
});

interface StoredHead {
  readonly head: PromptHead;
  /** Name of the artifact that holds the head. */
  readonly name: string;
}

const headOf = async (
  { session }: SwarmContext,
  parent: AgentNode,
  own: OwnPrompt | undefined,
  location: { readonly cwd: string; readonly model: string },
): Promise<StoredHead> => {
  const { promptHead, journal } = parent.deps;
  if (own === undefined) return { head: promptHead.head, name: journal.history.prompt };
  const { version, entrypoint } = session.meta;
  const head = await own.contextProvider.head({ ...location, version, entrypoint });
  return { head, name: await storeHead(session, head) };
};

/** Returns the head of the prompt donor if it is the same, so that both share its bytes in memory. */
const keptHead = async (
  { session }: SwarmContext,
  { deps: { promptHead, journal } }: AgentNode,
  name: string,
): Promise<PromptHead> =>
  name === journal.history.prompt
    ? promptHead.head
    : readHead(name, (artifact) => session.readArtifact(artifact));

/** Builds the node of a recorded child: its feed, permissions, hooks, shell jobs and budget. */
export const buildChild = (
  context: SwarmContext,
  recorded: RecordedChild,
  onActivity: OnActivity,
): ChildNode => {
  const { id, parent, origin, model, journal, head, own, below } = recorded;
  const { session, capabilities, requestSettings, prefixWarmup } = context;
  const { clock, ids, limits } = parent.deps;
  const { shell, checkpoints } = worktreeEquipment(context, parent, origin);
  const { history } = journal;
  const definition = definitionOf(context, origin.type);
  const donor = promptDonor(parent, origin).deps;
  const tag = tagOf(id, parent.id, origin);
  const leadFeed = leadOf(parent).deps.feed;
  const feed = childFeed(tag, leadFeed, () => onActivity(id));
  const contextProvider = childContext(
    own?.contextProvider ?? donor.contextProvider,
    origin,
    definition,
    (type) => leadFeed.emit({ type: 'notice', text: `${agentLabel(tag)} ${lostRoleText(type)}` }),
  );
  const bodies = head === donor.promptHead.head ? donor.promptHead.bodyHeads : undefined;
  const promptHead = new PromptHeadManager(
    { session, journal, contextProvider, capabilities, requestSettings, model },
    head,
    bodies,
  );
  const permissions = childPermissions(parent, origin, journal);
  // Other processes can write to this journal, so its grants are not trusted.
  if (context.dispatch === undefined && history.grants.size > 0)
    permissions.addSessionRules(history.grants);
  const jobs = backgroundCommands({ shell, journal, feed, ids, clock });
  const agentType = origin.type ?? 'fork';
  const hooks = openHooks(childHooks(context, recorded), session, {
    journal,
    feed,
    clock,
    mode: () => permissions.mode,
    child: { id, type: agentType },
  });
  const subtreeSpending = new Spending();
  subtreeSpending.add(history.spent);
  if (below !== undefined) subtreeSpending.add(below.spent);
  for (const path of below?.changedFiles ?? []) history.relations.changedFiles.add(path);
  history.spent.joins(subtreeSpending);
  subtreeSpending.joins(parent.subtreeSpending);
  const deps: AgentDeps = {
    ...parent.deps,
    agent: id,
    parent: parent.id,
    askers: [...(parent.deps.askers ?? []), askerOf(tag)],
    agentType,
    teammate: teamOf(origin),
    modelName: model,
    staysIdle: origin.kind === 'teammate',
    journal,
    feed,
    contextProvider,
    promptHead,
    permissions,
    hooks,
    jobs: jobs.table,
    pendingChildren: 0,
    toolbox: own?.toolbox ?? donor.toolbox,
    toolCount: own?.toolbox.visible.length ?? donor.toolCount,
    // The budget limits the turns of a child.
    limits: { ...limits, maxTurns: null },
    budget:
      context.keptBudgets.get(id) ??
      childBudget(
        parent.deps.budget,
        origin,
        history.currentRun.isUnfinished ? context.usage.usedBy(id) : undefined,
      ),
    betas: () => (capabilities.betas ? history.betas.with(context.betas) : []),
    beforeRequest: childPrefixPolicy({ prefixWarmup, history, promptHead }, () => ({
      sameStart: siblingsOf(parent, origin.type),
      all: allSiblingsOf(parent),
    })),
    agents: context.agentsFor(id),
    shell,
    checkpoints,
  };
  return {
    id,
    tag,
    origin,
    parent,
    depth: origin.depth,
    deps,
    subtreeSpending,
    jobs,
    hooks,
    isRemote: false,
    agent: undefined,
    surfaces: undefined,
    forkPoint: undefined,
    siblings: undefined,
    childPermissions: new Map(),
  };
};

const lostRoleText = (type: string): string =>
  `works without its role: "${type}" is no longer defined. Its permissions are unchanged.`;
