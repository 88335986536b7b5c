/** A list of work that ends with the process. */
import type { Clock } from '../../protocol/clock.js';
import {
  type SharedTask,
  type SharedTaskList,
  type TaskAction,
  type TaskChange,
  type TaskOrder,
  TaskRefusal,
} from '../../protocol/session/task-list.js';
import { creates, type Decide, TaskLog, updates } from '../shared/task-log.js';

export class MemoryTaskList implements SharedTaskList {
  private readonly board = new TaskLog();
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  async create(order: TaskOrder, act: TaskAction): Promise<SharedTask> {
    return made(this.change(creates(order, act)));
  }

  async update(id: string, change: TaskChange, act: TaskAction): Promise<SharedTask | undefined> {
    return this.change(updates(id, change, act));
  }

  async wasDone(key: string): Promise<boolean> {
    return this.board.wasDone(key);
  }

  async get(id: string): Promise<SharedTask | undefined> {
    return this.board.get(id);
  }

  async list(): Promise<readonly SharedTask[]> {
    return this.board.list();
  }

  private change(decide: Decide): SharedTask | undefined {
    const { id, entry } = decide(this.board, this.clock.now());
    if (entry !== undefined) this.board.apply(entry);
    return this.board.get(id);
  }
}

/** An act that is asked for again may find that somebody has deleted the item meanwhile. */
export const made = (item: SharedTask | undefined): SharedTask => {
  if (item === undefined) throw new TaskRefusal('The task was created, and is deleted by now.');
  return item;
};
