/** How the shared list of work reads, and what its tools have in common. */

import {
  LONGEST_OWNER,
  openBlockers,
  type SharedTask,
  type TaskListView,
  TaskRefusal,
} from '../../protocol/session/task-list.js';
import { type ToolContext, ToolFailure } from '../../protocol/tools/tool.js';
import { shortLine } from '../truncation.js';

/** Lines of a list; what is done is left out first. */
const MOST_LISTED = 200;
const MOST_IDS = 10;
const LONGEST_ID = 20;

/** Throws a ToolFailure where there is no list. */
export const workOf = ({ work }: ToolContext): TaskListView => {
  if (work === undefined) throw new ToolFailure('There is no shared list of tasks here.');
  return work;
};

/** What the list will not do it says in a sentence for the model. */
export const unlessRefused = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof TaskRefusal) throw new ToolFailure(error.message, { cause: error });
    throw error;
  }
};

/** `3` and `#3` are the same. */
export const idOf = (given: string): string => given.trim().replace(/^#/, '');

/** For people. */
export const shownId = (given: string): string => shortLine(idOf(given), LONGEST_ID);

/** `in_progress, owner scout; waits for 1, 2`. */
export const stateText = (item: SharedTask, all: readonly SharedTask[]): string => {
  const owner = item.owner === undefined ? 'no owner' : `owner ${flat(item.owner)}`;
  return [`${item.status}, ${owner}`, ...waitText(item, finderOf(all))].join('; ');
};

/** One item in full. */
export const itemText = (item: SharedTask, all: readonly SharedTask[]): string => {
  const { id, subject, description, activeForm, createdBy, metadata } = item;
  const waits = all.filter(({ blockedBy }) => blockedBy.includes(id));
  return [
    `Task ${id}: ${flat(subject)}`,
    `Status: ${stateText(item, all)}`,
    ...(waits.length === 0 ? [] : [`Waited for by: ${idsOf(waits)}`]),
    ...(activeForm === undefined ? [] : [`While under way: ${flat(activeForm)}`]),
    ...(metadata === undefined ? [] : [`Metadata: ${JSON.stringify(metadata)}`]),
    `Created by ${flat(createdBy)}.`,
    ...(description.trim() === '' ? [] : ['', description]),
  ].join('\n');
};

export const listText = (all: readonly SharedTask[]): string => {
  if (all.length === 0) return 'The list is empty.';
  const done = all.filter(({ status }) => status === 'completed');
  const surplus = Math.max(0, all.length - MOST_LISTED);
  const left = new Set(done.slice(0, surplus).map(({ id }) => id));
  const wanted = all.filter(({ id }) => !left.has(id));
  const shown = wanted.slice(0, MOST_LISTED);
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
  const some = items.slice(0, MOST_IDS).map(({ id }) => id);
  const more = items.length - some.length;
  return `${some.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
};

/** In one line: what others wrote cannot pose as the next item. */
const flat = (text: string): string => shortLine(text.replaceAll(/\s+/g, ' ').trim(), LONGEST_FLAT);

const LONGEST_FLAT = 2 * LONGEST_OWNER;
