/** Task text: tasks of the shared list as models read them, and helpers of the task tools. */

import {
  MAX_OWNER_LENGTH,
  openBlockers,
  type SharedTask,
  type TaskListView,
  TaskRefusal,
} from '../../protocol/session/shared-task-list.js';
import { type ToolContext, ToolFailure } from '../../protocol/tools/tool.js';
import { truncateLine } from '../text/truncate-text.js';

/** Maximum lines of a list. Completed tasks are left out first. */
const MAX_LISTED = 200;
const MAX_IDS = 10;
const MAX_ID_LENGTH = 20;

/** Throws ToolFailure if the session has no shared list. */
export const taskListOf = ({ taskList }: ToolContext): TaskListView => {
  if (taskList === undefined) throw new ToolFailure('There is no shared task list here.');
  return taskList;
};

/** Rejects with ToolFailure in place of TaskRefusal. */
export const unlessRefused = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof TaskRefusal) throw new ToolFailure(error.message, { cause: error });
    throw error;
  }
};

/** Returns `3` for `#3`. */
export const normalizeTaskId = (id: string): string => id.trim().replace(/^#/, '');

/** Returns a short id for people. */
export const shownTaskId = (id: string): string => truncateLine(normalizeTaskId(id), MAX_ID_LENGTH);

/** Returns `in_progress, owner scout; waits for 1, 2`. */
export const taskState = (item: SharedTask, all: readonly SharedTask[]): string => {
  const owner = item.owner === undefined ? 'no owner' : `owner ${flat(item.owner)}`;
  return [`${item.status}, ${owner}`, ...waitText(item, finderOf(all))].join('; ');
};

/** Returns all fields of a task. */
export const taskText = (item: SharedTask, all: readonly SharedTask[]): string => {
  const { id, subject, description, activeForm, createdBy, metadata } = item;
  const waits = all.filter(({ blockedBy }) => blockedBy.includes(id));
  return [
    `Task ${id}: ${flat(subject)}`,
    `Status: ${taskState(item, all)}`,
    ...(waits.length === 0 ? [] : [`Blocks: ${idsOf(waits)}`]),
    ...(activeForm === undefined ? [] : [`Active form: ${flat(activeForm)}`]),
    ...(metadata === undefined ? [] : [`Metadata: ${JSON.stringify(metadata)}`]),
    `Created by ${flat(createdBy)}.`,
    ...(description.trim() === '' ? [] : ['', description]),
  ].join('\n');
};

export const taskListText = (all: readonly SharedTask[]): string => {
  if (all.length === 0) return 'The list is empty.';
  const done = all.filter(({ status }) => status === 'completed');
  const surplus = Math.max(0, all.length - MAX_LISTED);
  const left = new Set(done.slice(0, surplus).map(({ id }) => id));
  const remaining = all.filter(({ id }) => !left.has(id));
  const shown = remaining.slice(0, MAX_LISTED);
  const hidden = all.length - shown.length;
  const find = finderOf(all);
  return [
    ...shown.map((item) => lineOf(item, find)),
    ...(hidden === 0 ? [] : [`(${hidden} more; TaskGet shows one by its number)`]),
  ].join('\n');
};

type Find = (id: string) => SharedTask | undefined;

const finderOf = (all: readonly SharedTask[]): Find => {
  const byId = new Map(all.map((item) => [item.id, item]));
  return (id) => byId.get(id);
};

const lineOf = (item: SharedTask, find: Find): string => {
  const { id, status, subject, owner } = item;
  const notes = [...(owner === undefined ? [] : [flat(owner)]), ...waitText(item, find)].join('; ');
  return `${id}. [${status}] ${flat(subject)}${notes === '' ? '' : ` (${notes})`}`;
};

const waitText = (item: SharedTask, find: Find): readonly string[] => {
  const waiting = openBlockers(item, find);
  return waiting.length === 0 ? [] : [`waits for ${idsOf(waiting)}`];
};

const idsOf = (items: readonly SharedTask[]): string => {
  const shown = items.slice(0, MAX_IDS).map(({ id }) => id);
  const more = items.length - shown.length;
  return `${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
};

/** Returns the text as one line, so that text of other agents cannot look like another task. */
const flat = (text: string): string =>
  truncateLine(text.replaceAll(/\s+/g, ' ').trim(), MAX_FLAT_LENGTH);

const MAX_FLAT_LENGTH = 2 * MAX_OWNER_LENGTH;
