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
  items: TasksById,
  id: number,
  order: NewTask,
  { by, now }: TaskActor,
): SharedTask => {
  refuseLong(order);
  if (items.size >= MAX_TASKS) {
    throw new TaskRefusal(
      `The list has ${items.size} tasks, which is the most. Delete those that nobody needs any more.`,
    );
  }
  const { subject, description, activeForm, metadata = {} } = order;
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
  items: TasksById,
  id: string,
  change: TaskChange,
  actor: TaskActor,
): readonly SharedTask[] => {
  const item = knownItem(items, id);
  refuseLong(change);
  const waitsFor = (of: SharedTask, more: readonly string[]): readonly string[] => {
    const all = new Set(of.blockedBy);
    for (const other of more) all.add(knownItem(items, other).id);
    return all.size === of.blockedBy.length ? of.blockedBy : [...all];
  };
  const drafts = new Map([[id, withChange(item, change, actor)]]);
  const draftOf = (other: string) => drafts.get(other) ?? knownItem(items, other);
  const blockedBy = waitsFor(item, change.addBlockedBy ?? []);
  drafts.set(id, { ...draftOf(id), blockedBy: [...blockedBy] });
  for (const other of change.addBlocks ?? []) {
    const blocked = draftOf(knownItem(items, other).id);
    drafts.set(other, { ...blocked, blockedBy: [...waitsFor(blocked, [id])] });
  }
  const after = (other: string) => drafts.get(other) ?? items.get(other);
  for (const draft of drafts.values()) refuseCycle(draft, after);
  refuseBlocked(item, draftOf(id), after);
  return [...drafts.values()].flatMap((draft) => {
    const before = knownItem(items, draft.id);
    if (isDeepStrictEqual(draft, before)) return [];
    return [{ ...draft, updatedAt: actor.now, version: before.version + 1 }];
  });
};

const withChange = (item: SharedTask, change: TaskChange, { by }: TaskActor): SharedTask => {
  const { owner: _, ...rest } = item;
  const { subject, description, activeForm, metadata } = change;
  const owner = ownerAfter(item, change, by);
  const isDropped = item.status === 'in_progress' && owner === undefined;
  return {
    ...rest,
    status: change.status ?? (isDropped ? 'pending' : item.status),
    ...(subject !== undefined && { subject }),
    ...(description !== undefined && { description }),
    ...(activeForm !== undefined && { activeForm }),
    ...(metadata !== undefined && { metadata: mergedMetadata(item.metadata ?? {}, metadata) }),
    ...(owner !== undefined && { owner }),
  };
};

/**
 * Starting a task without naming an owner claims it. Not even the lead can claim another agent's
 * task.
 */
const ownerAfter = (item: SharedTask, change: TaskChange, by: string): string | undefined => {
  const { owner: present } = item;
  const { status } = change;
  const wanted = change.owner || undefined;
  const isOthers = present !== undefined && present !== by;
  if (status === 'in_progress' && wanted === undefined) {
    if (isOthers) throw new TaskRefusal(ownedText(item, by));
    return by;
  }
  const isGivenAway = change.owner !== undefined && wanted !== present;
  const isEnded = status !== undefined && (status !== item.status || status === 'completed');
  if (isOthers && by !== LEAD_NAME && (isGivenAway || isEnded)) {
    throw new TaskRefusal(ownedText(item, by));
  }
  if (change.owner !== undefined) return wanted;
  return status === 'pending' && item.status !== 'pending' ? undefined : present;
};

const ownedText = ({ id, owner, status }: SharedTask, by: string): string => {
  const who = `Task ${id} is owned by ${owner} (${status})`;
  return by === LEAD_NAME
    ? `${who}. Name the owner that it is to have, or leave it to ${owner}.`
    : `${who}, so only ${owner} or the lead can change that. Take another one.`;
};

/** Removes keys with the value null. */
const mergedMetadata = (before: TaskMetadata, change: TaskMetadata): Record<string, unknown> => {
  const merged = new Map([...Object.entries(before), ...Object.entries(change)]);
  const kept = [...merged].filter(([, value]) => value !== null && value !== undefined);
  // Through JSON, because readers get the parsed JSON.
  const text = JSON.stringify(Object.fromEntries(kept));
  if (text.length > MAX_METADATA_LENGTH) {
    throw new TaskRefusal(
      `The metadata has ${text.length} characters as JSON; ${MAX_METADATA_LENGTH} is the most. Keep less, or keep it in a file.`,
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
  for (const [name, text = '', longest] of texts) {
    if (text.length <= longest) continue;
    throw new TaskRefusal(
      `The ${name} has ${text.length} characters; ${longest} is the most. Shorten it.`,
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
  const starts = after.status === 'in_progress' || after.status === 'completed';
  if (!starts || before.status === 'in_progress' || before.status === after.status) return;
  const open = openBlockers(after, find);
  if (open.length === 0) return;
  const named = open.slice(0, MAX_NAMED).map(({ id, status, owner }) => {
    return `${id} (${status}${owner === undefined ? '' : `, ${owner}`})`;
  });
  throw new TaskRefusal(
    `Task ${after.id} cannot start yet: it waits for ${andMore(named, open.length)}.`,
  );
};

const refuseCycle = (item: SharedTask, find: (id: string) => SharedTask | undefined): void => {
  const { id, blockedBy } = item;
  if (blockedBy.length > MAX_BLOCKERS) {
    throw new TaskRefusal(
      `Task ${id} would wait for ${blockedBy.length} others; ${MAX_BLOCKERS} is the most.`,
    );
  }
  const cycle = cycleThrough(id, (other) => find(other)?.blockedBy ?? []);
  if (cycle === undefined) return;
  const path = andMore(cycle.slice(0, MAX_NAMED), cycle.length, ' → ');
  throw new TaskRefusal(
    `Then task ${id} would wait for itself (${path}), and none of these could start. Nothing was changed.`,
  );
};

const MAX_NAMED = 40;

const knownItem = (items: TasksById, id: string): SharedTask => {
  const item = items.get(id);
  if (item === undefined) throw new TaskRefusal(unknownTask([...items.keys()], id));
  return item;
};

const andMore = (some: readonly string[], all: number, between = ', '): string =>
  `${some.join(between)}${all > some.length ? ` and ${all - some.length} more` : ''}`;

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
