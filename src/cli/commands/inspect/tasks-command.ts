/** `skein tasks`: the list of work that the agents of a session share, whether it runs or not. */

import { resolve } from 'node:path';
import { redact } from '../../../policy/redaction/redaction.js';
import type { SessionStore } from '../../../protocol/session/store.js';
import { openBlockers, type SharedTask } from '../../../protocol/session/task-list.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { sessionNamed } from '../../../sdk/sessions/find-session.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { chartStyle } from '../../../terminal/text/bar-chart.js';
import { columns, count } from '../../../terminal/text/format-numbers.js';
import { isoTime } from '../../../terminal/text/format-time.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { EXIT } from '../../run/exit-code.js';
import { withSessions } from './with-session-store.js';

export interface TasksFlags extends StoreFlags {
  readonly json?: boolean;
}

export const showTasks = (
  wanted: string | undefined,
  flags: TasksFlags,
  machine: TerminalHost,
): Promise<number> =>
  withSessions(machine, flags, (store) => showList(store, wanted, flags, machine));

const showList = async (
  store: SessionStore,
  wanted: string | undefined,
  flags: TasksFlags,
  machine: TerminalHost,
): Promise<number> => {
  const session = await sessionNamed(store, wanted, resolve(machine.cwd, flags.cwd ?? ''));
  const items = await store.workList(session.id).list();
  const byId = new Map(items.map((item) => [item.id, item]));
  const waitsFor = (item: SharedTask) =>
    openBlockers(item, (id) => byId.get(id)).map(({ id }) => id);
  if (flags.json === true) {
    const isRunning = (await store.holder(session.id)) !== undefined;
    const tasks = items.map((item) => ({ ...taskForPrograms(item), waitsFor: waitsFor(item) }));
    machine.out(`${JSON.stringify({ session: session.id, isRunning, tasks }, null, 2)}\n`);
    return EXIT.done;
  }
  if (items.length === 0) {
    machine.err(`${session.id} has no tasks.\n`);
    return EXIT.done;
  }
  const left = items.filter(({ status }) => status !== 'completed').length;
  const title = plainText(session.title, 60);
  machine.out(`${session.id}  ${count(left)} of ${count(items.length)} left  ${title}\n\n`);
  machine.out(taskTable(items, waitsFor, chartStyle(machine).width));
  return EXIT.done;
};

const HEADS = ['TASK', 'STATUS', 'OWNER', 'BLOCKED BY', 'SUBJECT'];
const LONGEST_OWNER = 24;
const MOST_BLOCKERS = 5;
const LEAST_SUBJECT = 20;

/** As wide as the terminal; what a task is about comes last, and is cut where there is no room. */
const taskTable = (
  items: readonly SharedTask[],
  waitsFor: (item: SharedTask) => readonly string[],
  width: number,
): string => {
  const rows = items.map((item) => [
    item.id,
    item.status,
    plainText(item.owner ?? '', LONGEST_OWNER) || '-',
    some(waitsFor(item)),
  ]);
  const lines = columns([HEADS.slice(0, -1), ...rows], [0]).split('\n');
  const widest = Math.max(...lines.map(({ length }) => length)) + 2;
  const subjects = [
    HEADS.at(-1) ?? '',
    ...items.map(({ subject }) =>
      plainText(redact(subject), Math.max(LEAST_SUBJECT, width - widest)),
    ),
  ];
  return lines.map((line, at) => `${line.padEnd(widest)}${subjects[at] ?? ''}\n`).join('');
};

const some = (ids: readonly string[]): string => {
  if (ids.length === 0) return '-';
  const more = ids.length > MOST_BLOCKERS ? ', …' : '';
  return `${ids.slice(0, MOST_BLOCKERS).join(', ')}${more}`;
};

/** The keys are a contract: programs read them. */
const taskForPrograms = (item: SharedTask) => {
  const { id, status, blockedBy, createdBy, version } = item;
  return {
    id,
    status,
    owner: item.owner ?? null,
    subject: redact(item.subject),
    description: redact(item.description),
    activeForm: item.activeForm ?? null,
    blockedBy,
    createdBy,
    createdAt: isoTime(item.createdAt),
    updatedAt: isoTime(item.updatedAt),
    version,
    metadata: item.metadata ?? {},
  };
};
