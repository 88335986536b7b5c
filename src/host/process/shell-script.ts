/** Shell script of a command, which reports its final working directory. */
import { existsSync } from 'node:fs';

/** Descriptor of the report pipe that the shell inherits. */
export const REPORT_FD = 3;

export interface ShellProgram {
  readonly path: string;
  /** Report descriptor in the script. High, because commands use low descriptors. dash allows a single digit. */
  readonly reportFd: number;
}

export const findShell = (): ShellProgram =>
  existsSync('/bin/bash') ? { path: '/bin/bash', reportFd: 87 } : { path: '/bin/sh', reportFd: 9 };

/**
 * Returns the script. An exit trap keeps the exit code, but does not run if the command replaces or kills the shell,
 * so the directory is then unknown. A forked child inherits the trap until exec and must not report. The command
 * is appended unchanged, so it needs no quoting.
 */
export const shellScript = (command: string, { reportFd }: ShellProgram): string => {
  const report = `[ "\${BASHPID:-$$}" = "$$" ] && command pwd >&${reportFd} 2>/dev/null`;
  return `exec ${reportFd}>&${REPORT_FD} ${REPORT_FD}>&-; trap '${report}' EXIT\n${command}`;
};

/** Returns undefined if the shell did not report. */
export const parseReportedDirectory = (report: string): string | undefined =>
  report.endsWith('\n') ? report.slice(0, -1) : undefined;
