/** Opens the debug log of a process: a JSON object per line, rotated and redacted, in a file. */
import { fstatSync, readdirSync, rmSync, type Stats, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { resolveSkeinHome } from '../../config/workspace/state-layout.js';
import { RotatingLog } from '../../host/files/rotating-log.js';
import { createRedactor, secretValues } from '../../policy/redaction/redact.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { DebugLog } from '../../sdk/assembly/options/host-environment.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { plainText } from '../../terminal/text/sanitize.js';

const MAX_BYTES = 10 * 1024 * 1024;
const MAX_OLD_FILES = 3;
/** Maximum files of earlier processes in the state directory. */
const MAX_EARLIER_FILES = 100;
/** Maximum characters of a text in a line. */
const MAX_TEXT_LENGTH = 2_000;
/** Maximum characters of a text that are redacted. Later characters are never shown. */
const MAX_REDACTED_LENGTH = 10 * MAX_TEXT_LENGTH;
/** Maximum nesting and members of a value in a line. */
const MAX_DEPTH = 5;
const MAX_MEMBERS = 50;

/** Returns a function that appends to the log. Throws UsageError if the file cannot be written. */
export const openDebugLog = (debugFile: string | undefined, host: TerminalHost): DebugLog => {
  const folder = join(resolveSkeinHome(host), 'debug');
  const path =
    debugFile === undefined ? join(folder, `${process.pid}.jsonl`) : resolve(host.cwd, debugFile);
  if (debugFile === undefined) removeEarlierFiles(folder);
  const log = openLog(path);
  const redact = createRedactor(secretValues(host.env));
  const from = { host: hostname(), pid: process.pid };
  let isFailed = false;
  host.err(`skein: The debug log is ${plainText(path, 300)}\n`);
  return (event, fields = {}) => {
    if (isFailed) return;
    const line = { time: new Date().toISOString(), ...from, event, ...fields };
    try {
      log.write(JSON.stringify(bounded(line, redact, MAX_DEPTH)));
    } catch (error) {
      isFailed = true;
      host.err(`skein: The debug log ends here: ${(error as Error).message}\n`);
    }
  };
};

const openLog = (path: string): RotatingLog => {
  try {
    refuseOutput(path);
    return new RotatingLog({ path, maxBytes: MAX_BYTES, maxOldFiles: MAX_OLD_FILES });
  } catch (error) {
    throw new UsageError(`The debug log cannot be written: ${(error as Error).message}`);
  }
};

/** Throws if the path is not a file, which could block, or if it is the file that stdout goes to. */
const refuseOutput = (path: string): void => {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isFile()) throw new Error(`${path} is not a file.`);
  const stdout = statOf(STDOUT);
  if (stdout?.dev === stat.dev && stdout.ino === stat.ino)
    throw new Error(`${path} is the file of stdout.`);
};

const STDOUT = 1;

/** Returns undefined for a closed descriptor. */
const statOf = (fd: number): Stats | undefined => {
  try {
    return fstatSync(fd);
  } catch {
    return undefined;
  }
};

/** Removes the oldest files of earlier processes. Never throws: a file may be gone meanwhile. */
const removeEarlierFiles = (folder: string): void => {
  try {
    const files = readdirSync(folder).map((name) => {
      const path = join(folder, name);
      return { path, at: statSync(path).mtimeMs };
    });
    const oldest = files.sort((a, b) => b.at - a.at).slice(MAX_EARLIER_FILES);
    for (const { path } of oldest) rmSync(path, { force: true });
  } catch {
    // The next process tries again.
  }
};

/** Redacts before the cut, because half a secret is not recognised. */
const shortText = (text: string, redact: (text: string) => string): string => {
  const clean = redact(text.slice(0, MAX_REDACTED_LENGTH));
  if (clean.length <= MAX_TEXT_LENGTH && text.length <= MAX_REDACTED_LENGTH) return clean;
  return `${clean.slice(0, MAX_TEXT_LENGTH)}… (${text.length} characters)`.toWellFormed();
};

/** Returns a copy with redacted and shortened texts, and without what is nested too deeply. */
const bounded = (value: unknown, redact: (text: string) => string, depth: number): unknown => {
  if (typeof value === 'string') return shortText(value, redact);
  if (value instanceof Error)
    return bounded({ message: value.message, stack: value.stack }, redact, depth);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '…';
  if (Array.isArray(value)) {
    return value.slice(0, MAX_MEMBERS).map((item) => bounded(item, redact, depth - 1));
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_MEMBERS)
      .map(([key, item]) => [redact(key), bounded(item, redact, depth - 1)]),
  );
};
