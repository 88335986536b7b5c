/** Base of the shared task lists: every list is a log of changes, and a store adds changes and reads the log. */
import type {
  NewTask,
  SharedTask,
  SharedTaskList,
  TaskAction,
  TaskChange,
} from '../../protocol/session/shared-task-list.js';
import {
  createdTask,
  type DecideTask,
  decideCreate,
  decideUpdate,
  type TaskLog,
} from './task-log.js';

export abstract class LoggedTaskList implements SharedTaskList {
  async create(task: NewTask, action: TaskAction): Promise<SharedTask> {
    return createdTask(await this.change(decideCreate(task, action)));
  }

  update(id: string, change: TaskChange, action: TaskAction): Promise<SharedTask | undefined> {
    return this.change(decideUpdate(id, change, action));
  }

  wasDone(key: string): Promise<boolean> {
    return this.query((log) => log.wasDone(key));
  }

  get(id: string): Promise<SharedTask | undefined> {
    return this.query((log) => log.get(id));
  }

  list(): Promise<readonly SharedTask[]> {
    return this.query((log) => log.list());
  }

  /** Decides a change against all earlier changes and stores it. Resolves with the changed task. */
  protected abstract change(decide: DecideTask): Promise<SharedTask | undefined>;

  /** Reads the log with all changes that are stored now. */
  protected abstract query<Result>(read: (log: TaskLog) => Result): Promise<Result>;
}
