/**
 * The list of work that all agents of a swarm share: who does what, and what waits for what. Every change
 * is decided against the list as it is at that moment, whoever else changes it, so of all who want one
 * item exactly one gets it.
 */
import { z } from 'zod';
import { SkeinError } from '../errors.js';

export const TASK_STATUSES = ['pending', 'in_progress', 'completed', 'deleted'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** Items that a list may have, done or not; one more is refused until some are deleted. */
export const MAX_TASKS = 1_000;
/** Items that one may wait for. */
export const MOST_BLOCKERS = 100;
export const LONGEST_SUBJECT = 200;
export const LONGEST_DESCRIPTION = 10_000;
/** As JSON. */
export const LONGEST_METADATA = 4_000;
export const LONGEST_OWNER = 100;

export const sharedTask = z.object({
  /** `1`, `2`: counted in the session, and never given twice. */
  id: z.string().regex(/^[1-9]\d{0,8}$/),
  subject: z.string(),
  description: z.string(),
  /** What people read while it is under way: "Running the tests". */
  activeForm: z.string().exactOptional(),
  status: z.enum(TASK_STATUSES),
  /** An agent, by the name that it acts under. */
  owner: z.string().exactOptional(),
  /** Items that must be completed before it can start. */
  blockedBy: z.array(z.string()),
  createdBy: z.string(),
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  updatedAt: z.number(),
  /** 1 for a new one, and one more with each change. */
  version: z.int().min(1),
  metadata: z.record(z.string(), z.unknown()).exactOptional(),
});
export type SharedTask = Readonly<z.infer<typeof sharedTask>>;

export type TaskMetadata = Readonly<Record<string, unknown>>;

export interface TaskOrder {
  readonly subject: string;
  readonly description: string;
  readonly activeForm?: string | undefined;
  readonly metadata?: TaskMetadata | undefined;
}

/** What is left out stays as it is. */
export interface TaskChange {
  readonly subject?: string | undefined;
  readonly description?: string | undefined;
  readonly activeForm?: string | undefined;
  /** Keys that are null are taken away. */
  readonly metadata?: TaskMetadata | undefined;
  readonly status?: TaskStatus | undefined;
  /** Empty: nobody. */
  readonly owner?: string | undefined;
  /** Items that wait for this one from now on. */
  readonly addBlocks?: readonly string[] | undefined;
  /** Items that this one waits for from now on. */
  readonly addBlockedBy?: readonly string[] | undefined;
}

export interface TaskAction {
  /** Who acts. */
  readonly by: string;
  /** Of this one act: asked for again under the same key, it is not done again. */
  readonly key: string;
}

export interface SharedTaskList {
  /** Resolves when it survives this process. Rejects with a WorkRefusal. */
  create(order: TaskOrder, act: TaskAction): Promise<SharedTask>;
  /** The same. With the item as it is now; undefined when it is deleted. */
  update(id: string, change: TaskChange, act: TaskAction): Promise<SharedTask | undefined>;
  /** Whether an act with this key was done, as far as is remembered: the newest thousand are. */
  wasDone(key: string): Promise<boolean>;
  get(id: string): Promise<SharedTask | undefined>;
  /** In the order of their ids, without those that are deleted. */
  list(): Promise<readonly SharedTask[]>;
}

/** The list as the tools of one agent see it: the agent acts under its own name. */
export interface TaskListView {
  create(order: TaskOrder): Promise<SharedTask>;
  update(id: string, change: TaskChange): Promise<SharedTask | undefined>;
  list(): Promise<readonly SharedTask[]>;
}

/** Why nothing was changed, in a sentence that may be shown to the model. */
export class TaskRefusal extends SkeinError {
  readonly code = 'work-refusal';
}

/** Of the items that one waits for, those that are not completed. */
export const openBlockers = (
  { blockedBy }: Pick<SharedTask, 'blockedBy'>,
  find: (id: string) => SharedTask | undefined,
): readonly SharedTask[] =>
  blockedBy.flatMap((id) => {
    const blocker = find(id);
    const isOpen = blocker?.status === 'pending' || blocker?.status === 'in_progress';
    return isOpen ? [blocker] : [];
  });

const MOST_NAMED = 40;

/** For whoever looks for an item that is not there. */
export const unknownTask = (known: readonly string[], id: string): string => {
  const more = known.length - MOST_NAMED;
  const others =
    known.length === 0
      ? 'The list is empty.'
      : `The tasks are: ${known.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
  return `There is no task "${id.slice(0, 80).toWellFormed()}". ${others}`;
};
