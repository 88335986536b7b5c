/**
 * Task list that all agents of a swarm share: owners, states and dependencies. Each change is applied
 * atomically to the current list, so if several agents claim a task, exactly one gets it.
 */
import { z } from 'zod';
import { SkeinError } from '../skein-error.js';

export const TASK_STATUSES = ['pending', 'in_progress', 'completed', 'deleted'] as const;
type TaskStatus = (typeof TASK_STATUSES)[number];

/** Maximum tasks of a list, including completed tasks. Further tasks are refused until some are deleted. */
export const MAX_TASKS = 1_000;
/** Maximum blockers of one task. */
export const MAX_BLOCKERS = 100;
export const MAX_SUBJECT_LENGTH = 200;
export const MAX_DESCRIPTION_LENGTH = 10_000;
/** Maximum characters of the metadata as JSON. */
export const MAX_METADATA_LENGTH = 4_000;
export const MAX_OWNER_LENGTH = 100;

export const sharedTask = z.object({
  /** `1`, `2`, …: counted per session and never reused. */
  id: z.string().regex(/^[1-9]\d{0,8}$/),
  subject: z.string(),
  description: z.string(),
  /** Text for people while the task is in progress: "Running the tests". */
  activeForm: z.string().exactOptional(),
  status: z.enum(TASK_STATUSES),
  /** Name of the owning agent. */
  owner: z.string().exactOptional(),
  /** Ids of tasks that must be completed first. */
  blockedBy: z.array(z.string()),
  createdBy: z.string(),
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  updatedAt: z.number(),
  /** Starts at 1 and grows by 1 with each change. */
  version: z.int().min(1),
  metadata: z.record(z.string(), z.unknown()).exactOptional(),
});
export type SharedTask = Readonly<z.infer<typeof sharedTask>>;

export type TaskMetadata = Readonly<Record<string, unknown>>;

export interface NewTask {
  readonly subject: string;
  readonly description: string;
  readonly activeForm?: string | undefined;
  readonly metadata?: TaskMetadata | undefined;
}

/** Change of a task. Fields that are left out stay unchanged. */
export interface TaskChange {
  readonly subject?: string | undefined;
  readonly description?: string | undefined;
  readonly activeForm?: string | undefined;
  /** Merged into the metadata. Keys with the value null are removed. */
  readonly metadata?: TaskMetadata | undefined;
  readonly status?: TaskStatus | undefined;
  /** New owner. Empty: no owner. */
  readonly owner?: string | undefined;
  /** Ids of tasks that this task blocks from now on. */
  readonly addBlocks?: readonly string[] | undefined;
  /** Ids of tasks that block this task from now on. */
  readonly addBlockedBy?: readonly string[] | undefined;
}

export interface TaskAction {
  /** Name of the acting agent. */
  readonly by: string;
  /** Idempotency key: an action with a known key is not applied again. */
  readonly key: string;
}

export interface SharedTaskList {
  /** Resolves when the task would survive this process. Rejects with TaskRefusal. */
  create(order: NewTask, act: TaskAction): Promise<SharedTask>;
  /** Resolves with the changed task, or with undefined if the task is deleted now. Rejects with TaskRefusal. */
  update(id: string, change: TaskChange, act: TaskAction): Promise<SharedTask | undefined>;
  /** True if an action with this key was applied. Only the newest thousand keys are remembered. */
  wasDone(key: string): Promise<boolean>;
  get(id: string): Promise<SharedTask | undefined>;
  /** Returns all tasks ordered by id, without deleted tasks. */
  list(): Promise<readonly SharedTask[]>;
}

/** The task list for the tools of one agent, which acts under its own name. */
export interface TaskListView {
  create(order: NewTask): Promise<SharedTask>;
  update(id: string, change: TaskChange): Promise<SharedTask | undefined>;
  list(): Promise<readonly SharedTask[]>;
}

/** Why a change was refused. The message may be shown to the model. */
export class TaskRefusal extends SkeinError {
  readonly code = 'work-refusal';
}

/** Returns the blockers that are neither completed nor deleted. */
export const openBlockers = (
  { blockedBy }: Pick<SharedTask, 'blockedBy'>,
  find: (id: string) => SharedTask | undefined,
): readonly SharedTask[] =>
  blockedBy.flatMap((id) => {
    const blocker = find(id);
    const isOpen = blocker?.status === 'pending' || blocker?.status === 'in_progress';
    return isOpen ? [blocker] : [];
  });

const MAX_NAMED_TASKS = 40;

/** Returns the error text for an unknown task id. */
export const unknownTask = (taskIds: readonly string[], id: string): string => {
  const more = taskIds.length - MAX_NAMED_TASKS;
  const others =
    taskIds.length === 0
      ? 'The list is empty.'
      : `The tasks are: ${taskIds.slice(0, MAX_NAMED_TASKS).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
  return `There is no task "${id.slice(0, 80).toWellFormed()}". ${others}`;
};
