/** `skein report`: writes a session as an HTML page, or its data as JSON. */
import { closeSync, lstatSync, openSync, readSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { writeUserFile } from '../../../config/workspace/write-user-file.js';
import { createRedactor, secretValues } from '../../../policy/redaction/redact.js';
import { systemClock } from '../../../protocol/clock.js';
import type { SessionStore } from '../../../protocol/session/session-store.js';
import { UsageError } from '../../../protocol/skein-error.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { findSession } from '../../../sdk/sessions/find-session.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { PAGE_MARK, reportPage } from '../../../ui/report/report-page.js';
import { redactedReport } from '../../../views/report/redacted-report.js';
import { swarmReport } from '../../../views/report/swarm-report.js';
import { ExitCode } from '../../session/exit-code.js';
import { withSessionStore } from '../../session/with-session-store.js';

export interface ReportFlags extends StoreFlags {
  /** Output file. `-` is stdout. Default: `skein-report-<session>.html`. */
  readonly output?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

export const reportCommand = (
  query: string | undefined,
  flags: ReportFlags,
  host: TerminalHost,
): Promise<number> => withSessionStore(host, flags, (store) => write(store, query, flags, host));

const write = async (
  store: SessionStore,
  query: string | undefined,
  flags: ReportFlags,
  host: TerminalHost,
): Promise<number> => {
  const session = await findSession(store, query, resolve(host.cwd, flags.cwd ?? ''));
  const { output = `skein-report-${session.id}.html` } = flags;
  const file = output === '-' || flags.json === true ? undefined : resolve(host.cwd, output);
  if (file !== undefined) refuseMissingFolder(dirname(file));
  if (file !== undefined && flags.force !== true) refuseForeignFile(file);
  const whole = await swarmReport(store, session, () => systemClock.now());
  const report = redactedReport(whole, createRedactor(secretValues(host.env)));
  if (flags.json === true) host.out(`${JSON.stringify(report, null, 2)}\n`);
  else if (file === undefined) host.out(reportPage(report));
  else {
    writeUserFile(file, reportPage(report), FILE_MODE);
    host.out(`${file}\n`);
  }
  return ExitCode.done;
};

/** File mode before the umask. A report is meant to be shared, so it is not private. */
const FILE_MODE = 0o666;

/** Throws UsageError if the folder does not exist, because its name is probably mistyped. */
const refuseMissingFolder = (folder: string): void => {
  if (isFolder(folder)) return;
  throw new UsageError(
    `There is no folder ${folder}: create it, or name another file with --output.`,
  );
};

const isFolder = (path: string): boolean => {
  try {
    return statSync(path).isDirectory();
  } catch {
    // The path does not exist, is below a file, or cannot be accessed.
    return false;
  }
};

/** Throws UsageError if the file exists and is not an older report. */
const refuseForeignFile = (file: string): void => {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined || (found.isFile() && isReport(file))) return;
  const problem = found.isFile() ? 'exists and is not a report' : 'exists and is not a file';
  throw new UsageError(
    `${file} ${problem}: name another file with --output, or replace it with --force.`,
  );
};

const isReport = (file: string): boolean => {
  const start = Buffer.alloc(PAGE_MARK.length);
  try {
    const descriptor = openSync(file, 'r');
    readSync(descriptor, start);
    closeSync(descriptor);
  } catch {
    // An unreadable file is treated as a foreign file.
    return false;
  }
  return start.toString('utf8') === PAGE_MARK;
};
