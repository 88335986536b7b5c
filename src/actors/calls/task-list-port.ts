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
      const trimmed = address.trim();
      const { registry, lead } = swarm();
      return trimmed === lead.id || registry.get(trimmed) !== undefined ? nameOf(trimmed) : trimmed;
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
export const taskListFor = ({ list, names }: TaskListPort, taskCall: TaskCall): TaskListView => {
  const key = `${taskCall.agent}/${taskCall.turn}/${taskCall.call}`;
  // Computed lazily, because every call of every tool gets a task list.
  const currentAction = (): TaskAction => ({ by: names.nameOf(taskCall.agent), key });
  /**
   * True if hooks must be asked. False for a call that is repeated after a crash and had its effect
   * before.
   */
  const isDue = async (event: HookEvent) => taskCall.hooks.has(event) && !(await list.wasDone(key));
  return {
    async create(order) {
      const action = currentAction();
      if (await isDue('TaskCreated')) {
        createSharedTask(byId(await list.list()), 1, order, { by: action.by, now: 0 });
        await askHooks(taskCall, action, 'TaskCreated', order);
      }
      return list.create(order, action);
    },
    async update(id, requested) {
      const action = currentAction();
      const { owner, status } = requested;
      const change =
        owner === undefined ? requested : { ...requested, owner: names.nameFor(owner) };
      if (status === 'completed' && (await isDue('TaskCompleted'))) {
        const task = completedBy(await list.list(), id, change, action);
        const facts = { task_id: id };
        if (task !== undefined) await askHooks(taskCall, action, 'TaskCompleted', task, facts);
      }
      return list.update(id, change, action);
    },
    list: () => list.list(),
  };
};

const askHooks = async (
  { hooks, call, signal, onVerdict }: TaskCall,
  { by }: TaskAction,
  event: keyof typeof VERBS,
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
  throw new TaskRefusal(`The task was not ${VERBS[event]}. A hook says: ${why}`);
};

const VERBS = { TaskCreated: 'created', TaskCompleted: 'completed' } as const;

/**
 * Returns the task as the change would complete it. Returns undefined if it is completed already.
 * Throws TaskRefusal.
 */
const completedBy = (
  tasks: readonly SharedTask[],
  id: string,
  change: TaskChange,
  { by }: TaskAction,
): SharedTask | undefined => {
  const tasksById = byId(tasks);
  if (tasksById.get(id)?.status === 'completed') return undefined;
  return changeSharedTask(tasksById, id, change, { by, now: 0 }).find((task) => task.id === id);
};

const byId = (tasks: readonly SharedTask[]): TasksById =>
  new Map(tasks.map((task) => [task.id, task]));
