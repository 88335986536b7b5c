/** A list of work that ends with the process. */
import type { Clock } from '../../protocol/clock.js';
import {
  type WorkAct,
  type WorkChange,
  type WorkItem,
  type WorkList,
  type WorkOrder,
  WorkRefusal,
} from '../../protocol/session/task-list.js';
import { creates, type Decide, updates, WorkBoard } from '../shared/task-log.js';

export class WorkMemory implements WorkList {
  private readonly board = new WorkBoard();
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  async create(order: WorkOrder, act: WorkAct): Promise<WorkItem> {
    return made(this.change(creates(order, act)));
  }

  async update(id: string, change: WorkChange, act: WorkAct): Promise<WorkItem | undefined> {
    return this.change(updates(id, change, act));
  }

  async wasDone(key: string): Promise<boolean> {
    return this.board.wasDone(key);
  }

  async get(id: string): Promise<WorkItem | undefined> {
    return this.board.get(id);
  }

  async list(): Promise<readonly WorkItem[]> {
    return this.board.list();
  }

  private change(decide: Decide): WorkItem | undefined {
    const { id, entry } = decide(this.board, this.clock.now());
    if (entry !== undefined) this.board.apply(entry);
    return this.board.get(id);
  }
}

/** An act that is asked for again may find that somebody has deleted the item meanwhile. */
export const made = (item: WorkItem | undefined): WorkItem => {
  if (item === undefined) throw new WorkRefusal('The task was created, and is deleted by now.');
  return item;
};
