/** `skein report`: a session as one HTML page, or its data as JSON. */
import { closeSync, lstatSync, openSync, readSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { writeAtomically } from '../../../config/workspace/write-atomically.js';
import { keysIn, redactorOf } from '../../../policy/redaction/redaction.js';
import { systemClock } from '../../../protocol/clock.js';
import { UsageError } from '../../../protocol/errors.js';
import type { SessionStore } from '../../../protocol/session/store.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { sessionNamed } from '../../../sdk/sessions/find-session.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { PAGE_MARK, reportPage } from '../../../ui/report/report-page.js';
import { redactedReport } from '../../../views/report/redacted-report.js';
import { reportOfSession } from '../../../views/report/swarm-report.js';
import { EXIT } from '../../run/exit-code.js';
import { withSessions } from './with-session-store.js';

export interface ReportFlags extends StoreFlags {
  /** `-` is stdout. */
  readonly output?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

export const writeReport = (
  wanted: string | undefined,
  flags: ReportFlags,
  machine: TerminalHost,
): Promise<number> => withSessions(machine, flags, (store) => write(store, wanted, flags, machine));

const write = async (
  store: SessionStore,
  wanted: string | undefined,
  flags: ReportFlags,
  machine: TerminalHost,
): Promise<number> => {
  const session = await sessionNamed(store, wanted, resolve(machine.cwd, flags.cwd ?? ''));
  const { output = `skein-report-${session.id}.html` } = flags;
  const file = output === '-' || flags.json === true ? undefined : resolve(machine.cwd, output);
  if (file !== undefined) refuseNowhere(dirname(file));
  if (file !== undefined && flags.force !== true) refuseOthers(file);
  const whole = await reportOfSession(store, session, () => systemClock.now());
  const report = redactedReport(whole, redactorOf(keysIn(machine.env)));
  if (flags.json === true) machine.out(`${JSON.stringify(report, null, 2)}\n`);
  else if (file === undefined) machine.out(reportPage(report));
  else {
    writeAtomically(file, reportPage(report), READABLE);
    machine.out(`${file}\n`);
  }
  return EXIT.done;
};

/** It is made to be shown; the umask takes away what it takes from every file. */
const READABLE = 0o666;

/** A folder that is missing is more likely a slip of the pen than a wish. */
const refuseNowhere = (folder: string): void => {
  if (isFolder(folder)) return;
  throw new UsageError(
    `There is no folder ${folder}: make it, or name another file with --output.`,
  );
};

const isFolder = (path: string): boolean => {
  try {
    return statSync(path).isDirectory();
  } catch {
    // It is missing, a file stands in its way, or nobody may look there.
    return false;
  }
};

/** What people keep under that name is not ours to replace; an older report of ours is. */
const refuseOthers = (file: string): void => {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined || (found.isFile() && beginsAsOurs(file))) return;
  const what = found.isFile() ? 'is there and is no report' : 'is there and is no file';
  throw new UsageError(
    `${file} ${what}: name another file with --output, or replace it with --force.`,
  );
};

const beginsAsOurs = (file: string): boolean => {
  const start = Buffer.alloc(PAGE_MARK.length);
  try {
    const descriptor = openSync(file, 'r');
    readSync(descriptor, start);
    closeSync(descriptor);
  } catch {
    // What cannot be read is not known to be ours.
    return false;
  }
  return start.toString('utf8') === PAGE_MARK;
};
