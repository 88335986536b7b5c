/** The list of work as its entries make it: each entry holds items as they are from then on. */
import { z } from 'zod';
import {
  type SharedTask,
  sharedTask,
  type TaskAction,
  type TaskChange,
  type TaskOrder,
} from '../../protocol/session/task-list.js';
import { changedItems, createdItem } from './task-rules.js';

export const taskEntry = z.object({
  /** The highest id that was ever given. */
  last: z.int().min(0),
  items: z.array(sharedTask),
  /** Keys of acts that were done, each with the item that it was about. */
  done: z.array(z.tuple([z.string(), z.string()])),
});
export type TaskEntry = z.infer<typeof taskEntry>;

/** Keys that are remembered: of acts that a process may have begun before it died. */
const MOST_KEYS = 1_000;

/** What an act comes to. */
export interface Decided {
  readonly id: string;
  /** What is to be kept for it; undefined when nothing is, since it was done before or changes nothing. */
  readonly entry: TaskEntry | undefined;
}

export type Decide = (board: TaskLog, now: number) => Decided;

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
    for (const item of items) {
      if (item.status === 'deleted') this.items.delete(item.id);
      else this.items.set(item.id, item);
    }
    for (const [key, id] of done) this.done.set(key, id);
    for (const oldest of this.done.keys()) {
      if (this.done.size <= MOST_KEYS) break;
      this.done.delete(oldest);
    }
  }

  /** All of it as one entry. */
  whole(): TaskEntry {
    return { last: this.last, items: [...this.items.values()], done: [...this.done] };
  }

  /** What an act comes to, as the list is now. Throws a WorkRefusal. */
  create(order: TaskOrder, { by, key }: TaskAction, now: number): Decided {
    const id = this.done.get(key);
    if (id !== undefined) return { id, entry: undefined };
    const last = this.last + 1;
    const item = createdItem(this.items, last, order, { by, now });
    return { id: item.id, entry: { last, items: [item], done: [[key, item.id]] } };
  }

  update(id: string, change: TaskChange, { by, key }: TaskAction, now: number): Decided {
    if (this.wasDone(key)) return { id, entry: undefined };
    const items = changedItems(this.items, id, change, { by, now });
    if (items.length === 0) return { id, entry: undefined };
    return { id, entry: { last: this.last, items: [...items], done: [[key, id]] } };
  }
}

export const creates =
  (order: TaskOrder, act: TaskAction): Decide =>
  (board, now) =>
    board.create(order, act, now);

export const updates =
  (id: string, change: TaskChange, act: TaskAction): Decide =>
  (board, now) =>
    board.update(id, change, act, now);
