/**
 * Binds the shared list of work to an agent: it acts under its own name, each of its calls is done once,
 * and hooks may object before a task is created or completed.
 */

import { LEAD_NAME } from '../../protocol/agent/team-message.js';
import type { HookEvent, HookFacts, Hooks, HookVerdict } from '../../protocol/permission/hooks.js';
import {
  type SharedTask,
  type SharedTaskList,
  type TaskAction,
  type TaskChange,
  type TaskListView,
  type TaskOrder,
  TaskRefusal,
} from '../../protocol/session/task-list.js';
import { changedItems, createdItem, type WorkItems } from '../../store/shared/task-rules.js';

/** How the agents of a swarm are called in the list. */
export interface TaskOwnerNames {
  /** What an agent acts under, by its id. */
  nameOf(id: string): string;
  /** The same for whatever somebody calls an agent: its id, its name, or something that nobody has. */
  nameFor(address: string): string;
}

export interface TaskListPort {
  readonly list: SharedTaskList;
  readonly names: TaskOwnerNames;
}

/** One call of one agent. */
export interface TaskCall {
  readonly agent: string;
  readonly call: string;
  /** Of the agent: a server may use the id of a call again in a later one. */
  readonly turn: number;
  readonly hooks: Hooks;
  readonly signal: AbortSignal;
  /** What hooks had to say besides. */
  heard(verdict: HookVerdict): void;
}

/** Hooks are asked about nothing that the list would refuse anyway. */
export const taskListFor = ({ list, names }: TaskListPort, of: TaskCall): TaskListView => {
  const key = `${of.agent}/${of.turn}/${of.call}`;
  // Only where it is needed: each call of each tool comes by here.
  const act = (): TaskAction => ({ by: names.nameOf(of.agent), key });
  /** Not once more of a call that is started again after its deed was done. */
  const isDue = async (event: HookEvent) => of.hooks.has(event) && !(await list.wasDone(key));
  return {
    async create(order) {
      const me = act();
      if (await isDue('TaskCreated')) {
        createdItem(byId(await list.list()), 1, order, { by: me.by, now: 0 });
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
  { hooks, call, signal, heard }: TaskCall,
  { by }: TaskAction,
  event: keyof typeof DEEDS,
  { subject, description }: Pick<TaskOrder, 'subject' | 'description'>,
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
  // Hooks that were called off have not agreed.
  signal.throwIfAborted();
  heard(verdict);
  const why = verdict.block?.reason ?? verdict.halt;
  if (why === undefined) return;
  throw new TaskRefusal(`The task was not ${DEEDS[event]}. A hook says: ${why}`);
};

const DEEDS = { TaskCreated: 'created', TaskCompleted: 'completed' } as const;

/** The item that a change completes, as it will be; undefined when it is completed already. Throws a WorkRefusal. */
const completedBy = (
  all: readonly SharedTask[],
  id: string,
  change: TaskChange,
  { by }: TaskAction,
): SharedTask | undefined => {
  const items = byId(all);
  if (items.get(id)?.status === 'completed') return undefined;
  return changedItems(items, id, change, { by, now: 0 }).find((item) => item.id === id);
};

const byId = (all: readonly SharedTask[]): WorkItems => new Map(all.map((item) => [item.id, item]));
