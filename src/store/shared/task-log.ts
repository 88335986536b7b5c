/** The shared task list as a log of entries. Each entry holds changed tasks in their new state. */
import { z } from 'zod';
import {
  type NewTask,
  type SharedTask,
  sharedTask,
  type TaskAction,
  type TaskChange,
  TaskRefusal,
} from '../../protocol/session/shared-task-list.js';
import { changeSharedTask, createSharedTask } from './change-shared-task.js';

export const taskEntry = z.object({
  /** Highest id that was ever given. */
  last: z.int().min(0),
  items: z.array(sharedTask),
  /** Keys of completed actions, each with the id of its task. */
  done: z.array(z.tuple([z.string(), z.string()])),
});
export type TaskEntry = z.infer<typeof taskEntry>;

/** Maximum number of remembered keys. A process that dies repeats only its last actions. */
const MAX_KEYS = 1_000;

/** Result of deciding an action. */
interface TaskDecision {
  readonly id: string;
  /** Entry to store. Undefined if the action was done before or has no effect. */
  readonly entry: TaskEntry | undefined;
}

export type DecideTask = (log: TaskLog, now: number) => TaskDecision;

export class TaskLog {
  private readonly items = new Map<string, SharedTask>();
  private readonly done = new Map<string, string>();
  private last = 0;

  get(id: string): SharedTask | undefined {
    return this.items.get(id);
  }

  wasDone(key: string): boolean {
    return this.done.has(key);
  }

  list(): readonly SharedTask[] {
    return [...this.items.values()].sort((a, b) => Number(a.id) - Number(b.id));
  }

  apply({ last, items, done }: TaskEntry): void {
    this.last = Math.max(this.last, last);
    for (const task of items) {
      if (task.status === 'deleted') this.items.delete(task.id);
      else this.items.set(task.id, task);
    }
    for (const [key, id] of done) this.done.set(key, id);
    for (const oldest of this.done.keys()) {
      if (this.done.size <= MAX_KEYS) break;
      this.done.delete(oldest);
    }
  }

  /** Returns the whole list as a single entry. */
  toEntry(): TaskEntry {
    return { last: this.last, items: [...this.items.values()], done: [...this.done] };
  }

  /** Decides an action against the current list. Throws TaskRefusal. */
  create(newTask: NewTask, { by, key }: TaskAction, now: number): TaskDecision {
    const id = this.done.get(key);
    if (id !== undefined) return { id, entry: undefined };
    const last = this.last + 1;
    const task = createSharedTask(this.items, last, newTask, { by, now });
    return { id: task.id, entry: { last, items: [task], done: [[key, task.id]] } };
  }

  /** Decides an action against the current list. Throws TaskRefusal. */
  update(id: string, change: TaskChange, { by, key }: TaskAction, now: number): TaskDecision {
    if (this.wasDone(key)) return { id, entry: undefined };
    const items = changeSharedTask(this.items, id, change, { by, now });
    if (items.length === 0) return { id, entry: undefined };
    return { id, entry: { last: this.last, items: [...items], done: [[key, id]] } };
  }
}

export const decideCreate =
  (newTask: NewTask, action: TaskAction): DecideTask =>
  (log, now) =>
    log.create(newTask, action, now);

export const decideUpdate =
  (id: string, change: TaskChange, action: TaskAction): DecideTask =>
  (log, now) =>
    log.update(id, change, action, now);

/** Returns the task. Throws TaskRefusal if the task of a repeated action was deleted meanwhile. */
export const createdTask = (task: SharedTask | undefined): SharedTask => {
  if (task === undefined) throw new TaskRefusal('The task was created and has been deleted since.');
  return task;
};
