/**
 * Binds the shared task list to an agent: the agent acts under its own name, each call has one
 * effect, and hooks may object before a task is created or completed.
 */
import { LEAD_NAME } from '../../protocol/agent/team-message.js';
import type { HookEvent, HookFacts, Hooks, HookVerdict } from '../../protocol/permission/hooks.js';
import {
  type NewTask,
  type SharedTask,
  type SharedTaskList,
  type TaskAction,
  type TaskChange,
  type TaskListView,
  TaskRefusal,
} from '../../protocol/session/shared-task-list.js';
import {
  changeSharedTask,
  createSharedTask,
  type TasksById,
} from '../../store/shared/change-shared-task.js';
import type { AgentEntry, AgentRegistry } from '../tree/agent-registry.js';

/** Names of agents as owners in the task list. */
interface TaskOwnerNames {
  /** Returns the owner name of an agent id. */
  nameOf(id: string): string;
  /** Returns the owner name for an address: an agent id, a name, or any other text unchanged. */
  nameFor(address: string): string;
}

export interface TaskListPort {
  readonly list: SharedTaskList;
  readonly names: TaskOwnerNames;
}

/**
 * Returns the names of a swarm's agents for the task list. `swarm` is read lazily, because the
 * lead's dependencies are built before its swarm.
 */
export const taskOwnerNames = (
  swarm: () => {
    readonly registry: Pick<AgentRegistry, 'get' | 'all'>;
    readonly lead: { readonly id: string };
  },
): TaskOwnerNames => {
  /** The first agent with a name keeps it, so two agents with one name never share tasks. */
  const holderOf = (name: string): AgentEntry | undefined =>
    [...swarm().registry.all()].find(({ tag }) => tag.name === name);
  const nameOf = (id: string): string => {
    const { registry, lead } = swarm();
    if (id === lead.id) return LEAD_NAME;
    const name = registry.get(id)?.tag.name;
    if (name === undefined || name === LEAD_NAME || registry.get(name) !== undefined) return id;
    return holderOf(name)?.tag.id === id ? name : id;
  };
  return {
    nameOf,
    nameFor(address) {
      const wanted = address.trim();
      const { registry, lead } = swarm();
      return wanted === lead.id || registry.get(wanted) !== undefined ? nameOf(wanted) : wanted;
    },
  };
};

/** A tool call that uses the task list. */
interface TaskCall {
  readonly agent: string;
  readonly call: string;
  /** Turn of the agent. Part of the key, because a server may reuse a call id in a later turn. */
  readonly turn: number;
  readonly hooks: Hooks;
  readonly signal: AbortSignal;
  /** Called with each verdict of the hooks. */
  onVerdict(verdict: HookVerdict): void;
}

/**
 * Binds the task list to a call of an agent. Hooks are not asked about a change that the list would
 * refuse.
 */
export const taskListFor = ({ list, names }: TaskListPort, of: TaskCall): TaskListView => {
  const key = `${of.agent}/${of.turn}/${of.call}`;
  // Computed lazily, because every call of every tool gets a task list.
  const act = (): TaskAction => ({ by: names.nameOf(of.agent), key });
  /**
   * True if hooks must be asked. False for a call that is repeated after a crash and had its effect
   * before.
   */
  const isDue = async (event: HookEvent) => of.hooks.has(event) && !(await list.wasDone(key));
  return {
    async create(order) {
      const me = act();
      if (await isDue('TaskCreated')) {
        createSharedTask(byId(await list.list()), 1, order, { by: me.by, now: 0 });
        await askHooks(of, me, 'TaskCreated', order);
      }
      return list.create(order, me);
    },
    async update(id, given) {
      const me = act();
      const { owner, status } = given;
      const change = owner === undefined ? given : { ...given, owner: names.nameFor(owner) };
      if (status === 'completed' && (await isDue('TaskCompleted'))) {
        const item = completedBy(await list.list(), id, change, me);
        const facts = { task_id: id };
        if (item !== undefined) await askHooks(of, me, 'TaskCompleted', item, facts);
      }
      return list.update(id, change, me);
    },
    list: () => list.list(),
  };
};

const askHooks = async (
  { hooks, call, signal, onVerdict }: TaskCall,
  { by }: TaskAction,
  event: keyof typeof DEEDS,
  { subject, description }: Pick<NewTask, 'subject' | 'description'>,
  facts: HookFacts = {},
): Promise<void> => {
  const verdict = await hooks.fire(
    event,
    {
      ...facts,
      task_subject: subject,
      task_description: description,
      ...(by !== LEAD_NAME && { teammate_name: by }),
    },
    { call, signal },
  );
  // Aborted hooks have not agreed.
  signal.throwIfAborted();
  onVerdict(verdict);
  const why = verdict.block?.reason ?? verdict.halt;
  if (why === undefined) return;
  throw new TaskRefusal(`The task was not ${DEEDS[event]}. A hook says: ${why}`);
};

const DEEDS = { TaskCreated: 'created', TaskCompleted: 'completed' } as const;

/**
 * Returns the task as the change would complete it. Returns undefined if it is completed already.
 * Throws TaskRefusal.
 */
const completedBy = (
  all: readonly SharedTask[],
  id: string,
  change: TaskChange,
  { by }: TaskAction,
): SharedTask | undefined => {
  const items = byId(all);
  if (items.get(id)?.status === 'completed') return undefined;
  return changeSharedTask(items, id, change, { by, now: 0 }).find((item) => item.id === id);
};

const byId = (all: readonly SharedTask[]): TasksById => new Map(all.map((item) => [item.id, item]));
