/**
 * How an agent that works for another comes to be: begun and written down, or rebuilt from its journal.
 * Both end in the same equipment by construction, so a child that is taken up again is the one it was.
 */
import { Spending } from '../../context/budget/spending.js';
import {
  forkDirective,
  teammateTask,
  worktreeTask,
} from '../../prompt/messages/delegation-text.js';
import type { Stop } from '../../protocol/agent/agent.js';
import { StorageError } from '../../protocol/errors.js';
import type { PromptHead } from '../../protocol/model/prompt.js';
import { rawText } from '../../protocol/model/wire.js';
import type { JournalRecord } from '../../protocol/session/journal.js';
import type { Journal } from '../../protocol/session/store.js';
import type { Origin } from '../../protocol/session/swarm-records.js';
import { agentLabel } from '../../tools/agents/agent-report.js';
import type { AgentDeps } from '../agent/agent.js';
import { childFeed } from '../agent/child-feed.js';
import { JournaledState } from '../agent/journaled-state.js';
import { childBudget } from '../budget/child-budget.js';
import { sessionJobs } from '../calls/background-commands.js';
import { hooksFor } from '../hooks/child-hooks.js';
import { openDesk } from '../hooks/session-hooks.js';
import { askerOf } from '../permissions/ask-surfaces.js';
import { permissionsForChild } from '../permissions/child-permissions.js';
import { childPrefixPolicy } from '../prompt-cache/prefix-sharing.js';
import { keepHead, PromptHeadManager, readHead } from '../prompt-cache/prompt-head-manager.js';
import { newestPrompt } from '../session/begin-session.js';
import { type AgentNode, allSiblingsOf, type ChildNode, siblingsOf } from '../tree/agent-node.js';
import { tagOf } from '../tree/agent-registry.js';
import { forkPointOf, inheritedBy } from '../tree/fork-point.js';
import type { SubtreeTotals } from '../tree/subtree-totals.js';
import { definitionOf, type OwnPrompt, type SwarmContext } from '../tree/swarm-context.js';
import { equipmentFor, isHome, mergeBack, placed, reopen } from '../worktrees/agent-worktree.js';
import { placeHere } from '../worktrees/worker-clone.js';
import { briefingFor } from './child-context.js';

/** A child that nobody has written down yet. */
export interface NewChild {
  readonly id: string;
  readonly parent: AgentNode;
  readonly origin: Origin;
  readonly model: string;
  readonly prompt: string;
  /** It gets a worktree of its own. */
  readonly isIsolated: boolean;
}

/** Told whenever it does something. */
export type Active = (id: string) => void;

/** Its first records are written when this resolves. Rejects with a StorageError. */
export const beginChild = async (
  house: SwarmContext,
  { id, parent, origin: terms, model, prompt, isIsolated }: NewChild,
  active: Active,
): Promise<ChildNode> => {
  const origin = isIsolated ? await placed(house, parent, id, terms) : terms;
  const own = ownPromptOf(house, origin);
  const cwd = origin.worktree?.cwd ?? parent.deps.notebook.history.cwd;
  const { head, name } = await headOf(house, kinOf(parent, origin), own, { cwd, model });
  const base = origin.inherits === undefined ? undefined : forkPointOf(parent).base;
  const journal = await house.session.journal(id, parent.id);
  const who = { agent: id, parent: parent.id, cwd, model, prompt: name, origin };
  const { records } = journal.past;
  // A process that died here may have left it without its task.
  const past = isCreated(records) ? records : [journal.append({ type: 'agent.created', ...who })];
  const notebook = new JournaledState(journal, past, base);
  const task = taskOf(origin, prompt);
  const text = base === undefined ? task : forkDirective(task);
  const { ids } = parent.deps;
  notebook.record({
    type: 'letter.received',
    letter: ids('letter'),
    from: parent.id,
    raw: `[${rawText(text)}]`,
  });
  return assemble(house, { id, parent, origin, model, notebook, head, own }, active);
};

const teamPlace = ({ name = '', team }: Origin) =>
  team === undefined ? undefined : { name, team };

const taskOf = (origin: Origin, prompt: string): string => {
  const place = teamPlace(origin);
  const task = origin.worktree === undefined ? prompt : worktreeTask(prompt, origin.worktree);
  return place === undefined ? task : teammateTask(task, place);
};

/** One that goes on is another process's now, in the place that it had. Rejects with a SpawnRefusal. */
export const beginEpoch = async (house: SwarmContext, child: ChildNode): Promise<void> => {
  await reopen(house, child);
  child.deps.notebook.record({ type: 'epoch.began', owner: house.worker });
};

const isCreated = (records: readonly JournalRecord[]): boolean =>
  records.some(({ type }) => type === 'agent.created');

/** Undefined while its task is not on record: then it never began. Rejects with a StorageError. */
export const rebuildChild = async (
  house: SwarmContext,
  id: string,
  parent: AgentNode,
  active: Active,
  open: typeof openJournal = openJournal,
): Promise<ChildNode | undefined> => {
  const { session, store } = house;
  const journal = await open(house, id, parent.id);
  const { records } = journal.past;
  const created = records.find((record) => record.type === 'agent.created');
  if (created?.type !== 'agent.created' || created.origin === undefined) return undefined;
  if (!records.some(({ type }) => type === 'letter.received')) return undefined;
  const { origin: terms, model } = created;
  const base = await inheritedBy(store, session.meta.id, terms.inherits);
  const notebook = new JournaledState(journal, records, base);
  if (open === openJournal) await placeHere(house, id, notebook, parent);
  const { place } = notebook.history.family;
  const origin = place === undefined ? terms : { ...terms, worktree: place };
  const kin = kinOf(parent, origin);
  const head = await keptHead(house, kin, newestPrompt(records) ?? created.prompt);
  const own = ownPromptOf(house, origin) ?? (origin.ownPrompt ? frozen(kin) : undefined);
  const below = notebook.history.family.isParent ? await house.below(id) : undefined;
  const child = assemble(house, { id, parent, origin, model, notebook, head, own, below }, active);
  // A process may have died when it had ended and its work had not come home.
  const isOver = endOf(child) !== undefined && open === openJournal;
  if (isOver && !isHome(child)) await mergeBack(house, child);
  return child;
};

const openJournal = ({ session }: SwarmContext, id: string, parent: string): Promise<Journal> =>
  session.journal(id, parent);

/** Of one that is only looked at, while another may be writing. */
export const readJournal: typeof openJournal = async ({ store, session }, id) => ({
  past: await store.peek(session.meta.id, id),
  append() {
    throw new StorageError(`${id} has ended, so nothing is written for it.`);
  },
  written: () => undefined,
  sync: async () => {},
});

/** Whose prompt it shares: a fork has its parent's, and everybody else the lead's. */
const kinOf = (parent: AgentNode, { inherits }: Origin): AgentNode =>
  inherits === undefined ? leadOf(parent) : parent;

const leadOf = (member: AgentNode | ChildNode): AgentNode =>
  'parent' in member ? leadOf(member.parent) : member;

/** How an agent came to its end, by what is on record; undefined while it has not. */
export const endOf = ({ deps }: AgentNode): Stop | undefined => {
  const { ended } = deps.notebook.history;
  return ended?.final ? { reason: ended.reason, detail: ended.detail } : undefined;
};

/** It has ended, and is to go on: somebody called it back, and nobody has begun it yet. */
export const isCalledBack = ({ deps }: AgentNode): boolean =>
  deps.notebook.history.life.isCalledBack;

const ownPromptOf = (house: SwarmContext, { ownPrompt, type }: Origin): OwnPrompt | undefined => {
  const definition = ownPrompt ? definitionOf(house, type) : undefined;
  return definition && house.setup.ownPrompt(definition);
};

/** Its definition is gone: it keeps the prompt that it has. */
const frozen = ({ deps: { briefing, toolbox, shelf } }: AgentNode): OwnPrompt => ({
  toolbox,
  briefing: {
    ...briefing,
    mayChange: false,
    isStale: () => false,
    head: async ({ kept }) => kept ?? shelf.head,
  },
});

interface Headed {
  readonly head: PromptHead;
  /** The artifact that holds it. */
  readonly name: string;
}

const headOf = async (
  { session }: SwarmContext,
  parent: AgentNode,
  own: OwnPrompt | undefined,
  place: { readonly cwd: string; readonly model: string },
): Promise<Headed> => {
  const { shelf, notebook } = parent.deps;
  if (own === undefined) return { head: shelf.head, name: notebook.history.prompt };
  const { version, entrypoint } = session.meta;
  const head = await own.briefing.head({ ...place, version, entrypoint });
  return { head, name: await keepHead(session, head) };
};

/** The one that its parent has, where it is the same: then they share its bytes in memory too. */
const keptHead = async (
  { session }: SwarmContext,
  { deps: { shelf, notebook } }: AgentNode,
  name: string,
): Promise<PromptHead> =>
  name === notebook.history.prompt
    ? shelf.head
    : readHead(name, (artifact) => session.readArtifact(artifact));

interface Cradle {
  readonly id: string;
  readonly parent: AgentNode;
  readonly origin: Origin;
  readonly model: string;
  readonly notebook: JournaledState;
  readonly head: PromptHead;
  readonly own: OwnPrompt | undefined;
  /** Of one that is rebuilt, and that others worked for. */
  readonly below?: SubtreeTotals | undefined;
}

const assemble = (house: SwarmContext, cradle: Cradle, active: Active): ChildNode => {
  const { id, parent, origin, model, notebook, head, own, below } = cradle;
  const { session, capabilities, requestSettings, warmth } = house;
  const { clock, ids, limits } = parent.deps;
  const { shell, checkpoints } = equipmentFor(house, parent, origin);
  const { history } = notebook;
  const definition = definitionOf(house, origin.type);
  const kin = kinOf(parent, origin).deps;
  const tag = tagOf(id, parent.id, origin);
  const leadFeed = leadOf(parent).deps.feed;
  const feed = childFeed(tag, leadFeed, () => active(id));
  const briefing = briefingFor(own?.briefing ?? kin.briefing, origin, definition, (type) =>
    leadFeed.emit({ type: 'notice', text: `${agentLabel(tag)} ${withoutRole(type)}` }),
  );
  const bodies = head === kin.shelf.head ? kin.shelf.bodies : undefined;
  const shelf = new PromptHeadManager(
    { session, notebook, briefing, capabilities, requestSettings, model },
    head,
    bodies,
  );
  const desk = permissionsForChild(parent, origin, notebook);
  // What others can write must allow nothing.
  if (house.dispatch === undefined && history.grants.size > 0) desk.recall(history.grants);
  const jobs = sessionJobs({ shell, notebook, feed, ids, clock });
  const agentType = origin.type ?? 'fork';
  const hooks = openDesk(hooksFor(house, cradle), session, {
    notebook,
    feed,
    clock,
    mode: () => desk.mode,
    child: { id, type: agentType },
  });
  const tree = new Spending();
  tree.add(history.spent);
  if (below !== undefined) tree.add(below.spent);
  for (const path of below?.changedFiles ?? []) history.family.changedFiles.add(path);
  history.spent.joins(tree);
  tree.joins(parent.tree);
  const deps: AgentDeps = {
    ...parent.deps,
    agent: id,
    parent: parent.id,
    askers: [...(parent.deps.askers ?? []), askerOf(tag)],
    agentType,
    teammate: teamPlace(origin),
    modelName: model,
    lingers: origin.kind === 'teammate',
    notebook,
    feed,
    briefing,
    shelf,
    desk,
    hooks,
    jobs: jobs.table,
    expecting: 0,
    toolbox: own?.toolbox ?? kin.toolbox,
    toolCount: own?.toolbox.visible.length ?? kin.toolCount,
    // Its turns are granted, not counted here.
    limits: { ...limits, maxTurns: null },
    grant:
      house.kept.get(id) ??
      childBudget(
        parent.deps.grant,
        origin,
        history.run.isUnfinished ? house.usage.usedBy(id) : undefined,
      ),
    betas: () => (capabilities.betas ? history.betas.with(house.betas) : []),
    depart: childPrefixPolicy({ warmth, history, shelf }, () => ({
      alike: siblingsOf(parent, origin.type),
      all: allSiblingsOf(parent),
    })),
    agents: house.agentsFor(id),
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
    tree,
    jobs,
    hooks,
    isElsewhere: false,
    agent: undefined,
    surfaces: undefined,
    forkPoint: undefined,
    siblings: undefined,
    desks: new Map(),
  };
};

const withoutRole = (type: string): string =>
  `works without its role: nothing defines "${type}" any more. What it may do is as it was.`;
