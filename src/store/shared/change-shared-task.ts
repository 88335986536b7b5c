/** Rules for creating and changing shared tasks. Pure, so that every store decides alike. */
import { isDeepStrictEqual } from 'node:util';
import { LEAD_NAME } from '../../protocol/agent/team-message.js';
import {
  MAX_BLOCKERS,
  MAX_DESCRIPTION_LENGTH,
  MAX_METADATA_LENGTH,
  MAX_OWNER_LENGTH,
  MAX_SUBJECT_LENGTH,
  MAX_TASKS,
  type NewTask,
  openBlockers,
  type SharedTask,
  type TaskChange,
  type TaskMetadata,
  TaskRefusal,
  unknownTask,
} from '../../protocol/session/shared-task-list.js';

export type TasksById = ReadonlyMap<string, SharedTask>;

/** Agent that acts, and the time in milliseconds since 1970. */
interface TaskActor {
  readonly by: string;
  readonly now: number;
}

/** Returns a new task. Throws TaskRefusal. */
export const createSharedTask = (
  tasks: TasksById,
  id: number,
  newTask: NewTask,
  { by, now }: TaskActor,
): SharedTask => {
  refuseLong(newTask);
  if (tasks.size >= MAX_TASKS) {
    throw new TaskRefusal(
      `The list has ${tasks.size} tasks, which is the limit. Delete tasks that are not needed.`,
    );
  }
  const { subject, description, activeForm, metadata = {} } = newTask;
  return {
    id: String(id),
    subject,
    description,
    status: 'pending',
    blockedBy: [],
    createdBy: by,
    createdAt: now,
    updatedAt: now,
    version: 1,
    ...(activeForm !== undefined && { activeForm }),
    ...(Object.keys(metadata).length > 0 && { metadata: mergedMetadata({}, metadata) }),
  };
};

/** Returns all tasks that change, in their new state. Throws TaskRefusal. */
export const changeSharedTask = (
  tasks: TasksById,
  id: string,
  change: TaskChange,
  actor: TaskActor,
): readonly SharedTask[] => {
  const task = requireTask(tasks, id);
  refuseLong(change);
  const waitsFor = (waiting: SharedTask, addedIds: readonly string[]): readonly string[] => {
    const blockers = new Set(waiting.blockedBy);
    for (const blockerId of addedIds) blockers.add(requireTask(tasks, blockerId).id);
    return blockers.size === waiting.blockedBy.length ? waiting.blockedBy : [...blockers];
  };
  const drafts = new Map([[id, withChange(task, change, actor)]]);
  const draftOf = (otherId: string) => drafts.get(otherId) ?? requireTask(tasks, otherId);
  const blockedBy = waitsFor(task, change.addBlockedBy ?? []);
  drafts.set(id, { ...draftOf(id), blockedBy: [...blockedBy] });
  for (const otherId of change.addBlocks ?? []) {
    const blocked = draftOf(requireTask(tasks, otherId).id);
    drafts.set(otherId, { ...blocked, blockedBy: [...waitsFor(blocked, [id])] });
  }
  const after = (otherId: string) => drafts.get(otherId) ?? tasks.get(otherId);
  for (const draft of drafts.values()) refuseCycle(draft, after);
  refuseBlocked(task, draftOf(id), after);
  return [...drafts.values()].flatMap((draft) => {
    const before = requireTask(tasks, draft.id);
    if (isDeepStrictEqual(draft, before)) return [];
    return [{ ...draft, updatedAt: actor.now, version: before.version + 1 }];
  });
};

const withChange = (task: SharedTask, change: TaskChange, { by }: TaskActor): SharedTask => {
  const { owner: _, ...rest } = task;
  const { subject, description, activeForm, metadata } = change;
  const owner = ownerAfter(task, change, by);
  const isDropped = task.status === 'in_progress' && owner === undefined;
  return {
    ...rest,
    status: change.status ?? (isDropped ? 'pending' : task.status),
    ...(subject !== undefined && { subject }),
    ...(description !== undefined && { description }),
    ...(activeForm !== undefined && { activeForm }),
    ...(metadata !== undefined && { metadata: mergedMetadata(task.metadata ?? {}, metadata) }),
    ...(owner !== undefined && { owner }),
  };
};

/**
 * Starting a task without naming an owner claims it. Not even the lead can claim another agent's
 * task.
 */
const ownerAfter = (task: SharedTask, change: TaskChange, by: string): string | undefined => {
  const { owner: currentOwner } = task;
  const { status } = change;
  const requestedOwner = change.owner || undefined;
  const isOwnedByOther = currentOwner !== undefined && currentOwner !== by;
  if (status === 'in_progress' && requestedOwner === undefined) {
    if (isOwnedByOther) throw new TaskRefusal(ownedText(task, by));
    return by;
  }
  const isGivenAway = change.owner !== undefined && requestedOwner !== currentOwner;
  const isEnded = status !== undefined && (status !== task.status || status === 'completed');
  if (isOwnedByOther && by !== LEAD_NAME && (isGivenAway || isEnded)) {
    throw new TaskRefusal(ownedText(task, by));
  }
  if (change.owner !== undefined) return requestedOwner;
  return status === 'pending' && task.status !== 'pending' ? undefined : currentOwner;
};

const ownedText = ({ id, owner, status }: SharedTask, by: string): string => {
  const ownership = `Task ${id} is owned by ${owner} (${status})`;
  return by === LEAD_NAME
    ? `${ownership}. Name its new owner, or leave it to ${owner}.`
    : `${ownership}, so only ${owner} or the lead can change that. Take another one.`;
};

/** Removes keys with the value null. */
const mergedMetadata = (before: TaskMetadata, change: TaskMetadata): Record<string, unknown> => {
  const merged = new Map([...Object.entries(before), ...Object.entries(change)]);
  const kept = [...merged].filter(([, value]) => value !== null && value !== undefined);
  // Through JSON, because readers get the parsed JSON.
  const text = JSON.stringify(Object.fromEntries(kept));
  if (text.length > MAX_METADATA_LENGTH) {
    throw new TaskRefusal(
      `The metadata has ${text.length} characters as JSON; the limit is ${MAX_METADATA_LENGTH}. Shorten it, or keep it in a file.`,
    );
  }
  return JSON.parse(text) as Record<string, unknown>;
};

const refuseLong = ({ subject, description, activeForm, owner }: TaskChange): void => {
  const texts = [
    ['subject', subject, MAX_SUBJECT_LENGTH],
    ['description', description, MAX_DESCRIPTION_LENGTH],
    ['activeForm', activeForm, MAX_SUBJECT_LENGTH],
    ['owner', owner, MAX_OWNER_LENGTH],
  ] as const;
  for (const [name, text = '', maxLength] of texts) {
    if (text.length <= maxLength) continue;
    throw new TaskRefusal(
      `The ${name} has ${text.length} characters; the limit is ${maxLength}. Shorten it.`,
    );
  }
  if (subject !== undefined && subject.trim() === '') {
    throw new TaskRefusal('The subject is empty. Say in a few words what is to be done.');
  }
};

/** Throws TaskRefusal if the change starts or completes a task with open blockers. */
const refuseBlocked = (
  before: SharedTask,
  after: SharedTask,
  find: (id: string) => SharedTask | undefined,
): void => {
  const isStarting = after.status === 'in_progress' || after.status === 'completed';
  if (!isStarting || before.status === 'in_progress' || before.status === after.status) return;
  const open = openBlockers(after, find);
  if (open.length === 0) return;
  const labels = open.slice(0, MAX_LISTED_TASKS).map(({ id, status, owner }) => {
    return `${id} (${status}${owner === undefined ? '' : `, ${owner}`})`;
  });
  throw new TaskRefusal(
    `Task ${after.id} cannot start yet: it waits for ${andMore(labels, open.length)}.`,
  );
};

const refuseCycle = (task: SharedTask, find: (id: string) => SharedTask | undefined): void => {
  const { id, blockedBy } = task;
  if (blockedBy.length > MAX_BLOCKERS) {
    throw new TaskRefusal(
      `Task ${id} would wait for ${blockedBy.length} others; the limit is ${MAX_BLOCKERS}.`,
    );
  }
  const cycle = cycleThrough(id, (otherId) => find(otherId)?.blockedBy ?? []);
  if (cycle === undefined) return;
  const path = andMore(cycle.slice(0, MAX_LISTED_TASKS), cycle.length, ' → ');
  throw new TaskRefusal(
    `Then task ${id} would wait for itself (${path}), and none of these could start. Nothing was changed.`,
  );
};

const MAX_LISTED_TASKS = 40;

const requireTask = (tasks: TasksById, id: string): SharedTask => {
  const task = tasks.get(id);
  if (task === undefined) throw new TaskRefusal(unknownTask([...tasks.keys()], id));
  return task;
};

const andMore = (listed: readonly string[], total: number, between = ', '): string =>
  `${listed.join(between)}${total > listed.length ? ` and ${total - listed.length} more` : ''}`;

/**
 * Returns a path from an id back to itself, both ends included. Returns undefined if there is none.
 */
const cycleThrough = (
  id: string,
  waitsFor: (id: string) => readonly string[],
): readonly string[] | undefined => {
  /** Predecessor of each visited id. */
  const cameFrom = new Map<string, string>();
  const open = [id];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const next of waitsFor(at)) {
      if (next === id) return pathTo(at, id, cameFrom);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, at);
      open.push(next);
    }
  }
  return undefined;
};

const pathTo = (
  last: string,
  id: string,
  cameFrom: ReadonlyMap<string, string>,
): readonly string[] => {
  const path = [id];
  for (let at: string | undefined = last; at !== undefined && at !== id; at = cameFrom.get(at)) {
    path.unshift(at);
  }
  return [id, ...path];
};
