/** Shared task list in memory. */
import type { Clock } from '../../protocol/clock.js';
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
  TaskLog,
} from '../shared/task-log.js';

export class MemoryTaskList implements SharedTaskList {
  private readonly log = new TaskLog();
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  async create(task: NewTask, action: TaskAction): Promise<SharedTask> {
    return createdTask(this.change(decideCreate(task, action)));
  }

  async update(
    id: string,
    change: TaskChange,
    action: TaskAction,
  ): Promise<SharedTask | undefined> {
    return this.change(decideUpdate(id, change, action));
  }

  async wasDone(key: string): Promise<boolean> {
    return this.log.wasDone(key);
  }

  async get(id: string): Promise<SharedTask | undefined> {
    return this.log.get(id);
  }

  async list(): Promise<readonly SharedTask[]> {
    return this.log.list();
  }

  private change(decide: DecideTask): SharedTask | undefined {
    const { id, entry } = decide(this.log, this.clock.now());
    if (entry !== undefined) this.log.apply(entry);
    return this.log.get(id);
  }
}
