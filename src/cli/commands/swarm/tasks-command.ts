/** `skein tasks`: prints the shared task list of a session, running or not. */
import { resolve } from 'node:path';
import { redact } from '../../../policy/redaction/redact.js';
import type { SessionStore } from '../../../protocol/session/session-store.js';
import { openBlockers, type SharedTask } from '../../../protocol/session/shared-task-list.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { findSession } from '../../../sdk/sessions/find-session.js';
import { chartStyle } from '../../../terminal/charts/chart-style.js';
import { alignColumns } from '../../../terminal/charts/figure-table.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { formatNumber } from '../../../terminal/text/format-number.js';
import { formatIsoTime } from '../../../terminal/text/format-time.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { ExitCode } from '../../session/exit-code.js';
import { withSessionStore } from '../../session/with-session-store.js';

export interface TasksFlags extends StoreFlags {
  readonly json?: boolean;
}

export const tasksCommand = (
  query: string | undefined,
  flags: TasksFlags,
  host: TerminalHost,
): Promise<number> => withSessionStore(host, flags, (store) => showList(store, query, flags, host));

const showList = async (
  store: SessionStore,
  query: string | undefined,
  flags: TasksFlags,
  host: TerminalHost,
): Promise<number> => {
  const session = await findSession(store, query, resolve(host.cwd, flags.cwd ?? ''));
  const items = await store.taskList(session.id).list();
  const byId = new Map(items.map((item) => [item.id, item]));
  const waitsFor = (item: SharedTask) =>
    openBlockers(item, (id) => byId.get(id)).map(({ id }) => id);
  if (flags.json === true) {
    const isRunning = (await store.holder(session.id)) !== undefined;
    const tasks = items.map((item) => ({ ...taskJson(item), waitsFor: waitsFor(item) }));
    host.out(`${JSON.stringify({ session: session.id, isRunning, tasks }, null, 2)}\n`);
    return ExitCode.done;
  }
  if (items.length === 0) {
    host.err(`${session.id} has no tasks.\n`);
    return ExitCode.done;
  }
  const left = items.filter(({ status }) => status !== 'completed').length;
  const title = plainText(session.title, 60);
  host.out(
    `${session.id}  ${formatNumber(left)} of ${formatNumber(items.length)} left  ${title}\n\n`,
  );
  host.out(taskTable(items, waitsFor, chartStyle(host).width));
  return ExitCode.done;
};

const HEADS = ['TASK', 'STATUS', 'OWNER', 'BLOCKED BY', 'SUBJECT'];
const MAX_OWNER_LENGTH = 24;
const MAX_BLOCKERS = 5;
const MIN_SUBJECT_LENGTH = 20;

/** Returns a table as wide as the terminal. The subject is the last column and is cut to fit. */
const taskTable = (
  items: readonly SharedTask[],
  waitsFor: (item: SharedTask) => readonly string[],
  width: number,
): string => {
  const rows = items.map((item) => [
    item.id,
    item.status,
    plainText(item.owner ?? '', MAX_OWNER_LENGTH) || '-',
    blockerText(waitsFor(item)),
  ]);
  const lines = alignColumns([HEADS.slice(0, -1), ...rows], [0]).split('\n');
  const widest = Math.max(...lines.map(({ length }) => length)) + 2;
  const subjects = [
    HEADS.at(-1) ?? '',
    ...items.map(({ subject }) =>
      plainText(redact(subject), Math.max(MIN_SUBJECT_LENGTH, width - widest)),
    ),
  ];
  return lines.map((line, at) => `${line.padEnd(widest)}${subjects[at] ?? ''}\n`).join('');
};

const blockerText = (ids: readonly string[]): string => {
  if (ids.length === 0) return '-';
  const more = ids.length > MAX_BLOCKERS ? ', …' : '';
  return `${ids.slice(0, MAX_BLOCKERS).join(', ')}${more}`;
};

/** Returns a task as JSON. The keys are a contract. */
const taskJson = (item: SharedTask) => {
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
    createdAt: formatIsoTime(item.createdAt),
    updatedAt: formatIsoTime(item.updatedAt),
    version,
    metadata: item.metadata ?? {},
  };
};
