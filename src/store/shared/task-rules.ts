/** What may become of the list of work, whoever keeps it. Pure, so that every keeper decides alike. */
import { isDeepStrictEqual } from 'node:util';
import { LEAD_NAME } from '../../protocol/agent/team-message.js';
import {
  LONGEST_DESCRIPTION,
  LONGEST_METADATA,
  LONGEST_OWNER,
  LONGEST_SUBJECT,
  MAX_TASKS,
  MOST_BLOCKERS,
  openBlockers,
  type SharedTask,
  type TaskChange,
  type TaskMetadata,
  type TaskOrder,
  TaskRefusal,
  unknownTask,
} from '../../protocol/session/task-list.js';
import { cycleThrough } from './work-cycles.js';

export type WorkItems = ReadonlyMap<string, SharedTask>;

/** Who acts, and when. */
export interface Moment {
  readonly by: string;
  readonly now: number;
}

/** Throws a WorkRefusal. */
export const createdItem = (
  items: WorkItems,
  id: number,
  order: TaskOrder,
  { by, now }: Moment,
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

/** The items that are others afterwards, that of the id among them if it is. Throws a WorkRefusal. */
export const changedItems = (
  items: WorkItems,
  id: string,
  change: TaskChange,
  moment: Moment,
): readonly SharedTask[] => {
  const item = knownItem(items, id);
  refuseLong(change);
  const waitsFor = (of: SharedTask, more: readonly string[]): readonly string[] => {
    const all = new Set(of.blockedBy);
    for (const other of more) all.add(knownItem(items, other).id);
    return all.size === of.blockedBy.length ? of.blockedBy : [...all];
  };
  const drafts = new Map([[id, withChange(item, change, moment)]]);
  const draftOf = (other: string) => drafts.get(other) ?? knownItem(items, other);
  const blockedBy = waitsFor(item, change.addBlockedBy ?? []);
  drafts.set(id, { ...draftOf(id), blockedBy: [...blockedBy] });
  for (const other of change.addBlocks ?? []) {
    const blocked = draftOf(knownItem(items, other).id);
    drafts.set(other, { ...blocked, blockedBy: [...waitsFor(blocked, [id])] });
  }
  const after = (other: string) => drafts.get(other) ?? items.get(other);
  for (const draft of drafts.values()) refuseKnot(draft, after);
  refuseBlocked(item, draftOf(id), after);
  return [...drafts.values()].flatMap((draft) => {
    const before = knownItem(items, draft.id);
    if (isDeepStrictEqual(draft, before)) return [];
    return [{ ...draft, updatedAt: moment.now, version: before.version + 1 }];
  });
};

const withChange = (item: SharedTask, change: TaskChange, { by }: Moment): SharedTask => {
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

/** Whoever starts an item without naming anybody claims it, and that the lead can do no more than others. */
const ownerAfter = (item: SharedTask, change: TaskChange, by: string): string | undefined => {
  const { owner: present } = item;
  const { status } = change;
  const wanted = change.owner || undefined;
  const isTheirs = present !== undefined && present !== by;
  if (status === 'in_progress' && wanted === undefined) {
    if (isTheirs) throw new TaskRefusal(ownedText(item, by));
    return by;
  }
  const isGivenAway = change.owner !== undefined && wanted !== present;
  const isEnded = status !== undefined && (status !== item.status || status === 'completed');
  if (isTheirs && by !== LEAD_NAME && (isGivenAway || isEnded)) {
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

/** Keys that are null are taken away. */
const mergedMetadata = (before: TaskMetadata, change: TaskMetadata): Record<string, unknown> => {
  const merged = new Map([...Object.entries(before), ...Object.entries(change)]);
  const kept = [...merged].filter(([, value]) => value !== null && value !== undefined);
  // As it will be read again.
  const text = JSON.stringify(Object.fromEntries(kept));
  if (text.length > LONGEST_METADATA) {
    throw new TaskRefusal(
      `The metadata has ${text.length} characters as JSON; ${LONGEST_METADATA} is the most. Keep less, or keep it in a file.`,
    );
  }
  return JSON.parse(text) as Record<string, unknown>;
};

const refuseLong = ({ subject, description, activeForm, owner }: TaskChange): void => {
  const texts = [
    ['subject', subject, LONGEST_SUBJECT],
    ['description', description, LONGEST_DESCRIPTION],
    ['activeForm', activeForm, LONGEST_SUBJECT],
    ['owner', owner, LONGEST_OWNER],
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

/** Started, or completed without having been. */
const refuseBlocked = (
  before: SharedTask,
  after: SharedTask,
  find: (id: string) => SharedTask | undefined,
): void => {
  const begins = after.status === 'in_progress' || after.status === 'completed';
  if (!begins || before.status === 'in_progress' || before.status === after.status) return;
  const open = openBlockers(after, find);
  if (open.length === 0) return;
  const named = open.slice(0, MOST_NAMED).map(({ id, status, owner }) => {
    return `${id} (${status}${owner === undefined ? '' : `, ${owner}`})`;
  });
  throw new TaskRefusal(
    `Task ${after.id} cannot start yet: it waits for ${andMore(named, open.length)}.`,
  );
};

const refuseKnot = (item: SharedTask, find: (id: string) => SharedTask | undefined): void => {
  const { id, blockedBy } = item;
  if (blockedBy.length > MOST_BLOCKERS) {
    throw new TaskRefusal(
      `Task ${id} would wait for ${blockedBy.length} others; ${MOST_BLOCKERS} is the most.`,
    );
  }
  const circle = cycleThrough(id, (other) => find(other)?.blockedBy ?? []);
  if (circle === undefined) return;
  const path = andMore(circle.slice(0, MOST_NAMED), circle.length, ' → ');
  throw new TaskRefusal(
    `Then task ${id} would wait for itself (${path}), and none of these could start. Nothing was changed.`,
  );
};

const MOST_NAMED = 40;

const knownItem = (items: WorkItems, id: string): SharedTask => {
  const item = items.get(id);
  if (item === undefined) throw new TaskRefusal(unknownTask([...items.keys()], id));
  return item;
};

const andMore = (some: readonly string[], all: number, between = ', '): string =>
  `${some.join(between)}${all > some.length ? ` and ${all - some.length} more` : ''}`;
