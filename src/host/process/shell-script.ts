/** The text that a shell is given: the command, and a last word on where it ended up. */
import { existsSync } from 'node:fs';

/** The pipe for the last word, as the shell inherits it. */
export const REPORT_FD = 3;

export interface ShellProgram {
  readonly path: string;
  /** Commands use small descriptors for themselves, so the report moves away. dash has only one digit. */
  readonly reportFd: number;
}

export const findShell = (): ShellProgram =>
  existsSync('/bin/bash') ? { path: '/bin/bash', reportFd: 87 } : { path: '/bin/sh', reportFd: 9 };

/**
 * An exit trap leaves the exit code alone, and does not run when the command replaces or kills the
 * shell: then nobody knows the directory. A child that is ended before it became another program has
 * the trap too, and must keep quiet. The command follows as it is, so quoting stays its own.
 */
export const shellScript = (command: string, { reportFd }: ShellProgram): string => {
  const report = `[ "\${BASHPID:-$$}" = "$$" ] && command pwd >&${reportFd} 2>/dev/null`;
  return `exec ${reportFd}>&${REPORT_FD} ${REPORT_FD}>&-; trap '${report}' EXIT\n${command}`;
};

/** Undefined when the shell did not get to report. */
export const parseReportedDirectory = (report: string): string | undefined =>
  report.endsWith('\n') ? report.slice(0, -1) : undefined;
