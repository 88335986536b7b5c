/** Shared task list in memory. */
import type { Clock } from '../../protocol/clock.js';
import type { SharedTask } from '../../protocol/session/shared-task-list.js';
import { LoggedTaskList } from '../shared/logged-task-list.js';
import { type DecideTask, TaskLog } from '../shared/task-log.js';

export class MemoryTaskList extends LoggedTaskList {
  private readonly log = new TaskLog();
  private readonly clock: Clock;

  constructor(clock: Clock) {
    super();
    this.clock = clock;
  }

  protected async query<Result>(read: (log: TaskLog) => Result): Promise<Result> {
    return read(this.log);
  }

  protected async change(decide: DecideTask): Promise<SharedTask | undefined> {
    const { id, entry } = decide(this.log, this.clock.now());
    if (entry !== undefined) this.log.apply(entry);
    return this.log.get(id);
  }
}
