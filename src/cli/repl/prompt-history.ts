/** Prompt history: SKEIN_HOME/history, with one redacted prompt as a JSON string per line. */

import { appendFileSync, closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { writeUserFile } from '../../config/workspace/write-user-file.js';
import { parseJson } from '../../lib/json/parse-json.js';
import { redact } from '../../policy/redaction/redact.js';

const MAX_ENTRIES = 1_000;
/** Maximum characters of a prompt in the file. Longer prompts are kept for this session only. */
const MAX_SAVED_LENGTH = 10_000;
/** Maximum characters of a prompt in memory. Longer prompts are not kept. */
const MAX_ENTRY_LENGTH = 100_000;
/** Maximum bytes read from the end of the file. */
const MAX_READ_BYTES = 4 * 1024 * 1024;

export class PromptHistory {
  /** Prompts, oldest first. */
  readonly entries: string[];
  private readonly file: string | undefined;

  /** Without a file the history ends with the session. Never throws. */
  constructor(file?: string) {
    this.file = file;
    const { entries, lines } = file === undefined ? { entries: [], lines: 0 } : read(file);
    this.entries = entries;
    if (file !== undefined && lines > MAX_ENTRIES * 2) rewrite(file, entries);
  }

  add(prompt: string): void {
    const entry = prompt.trim();
    if (entry === '' || entry === this.entries.at(-1) || entry.length > MAX_ENTRY_LENGTH) return;
    this.entries.push(entry);
    if (this.entries.length > MAX_ENTRIES) this.entries.shift();
    if (this.file === undefined || entry.length > MAX_SAVED_LENGTH) return;
    try {
      appendFileSync(this.file, `${JSON.stringify(redact(entry))}\n`, { mode: 0o600 });
    } catch {
      // The session reports a full or read-only disk when its journal fails.
    }
  }
}

const read = (file: string): { entries: string[]; lines: number } => {
  const lines = tailOf(file).split('\n').slice(0, -1);
  const entries = lines.slice(-MAX_ENTRIES).flatMap((line) => {
    const entry = parseJson(line);
    return typeof entry === 'string' && entry !== '' ? [entry] : [];
  });
  return { entries, lines: lines.length };
};

const tailOf = (file: string): string => {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, MAX_READ_BYTES));
    const length = readSync(descriptor, bytes, 0, bytes.length, Math.max(0, size - MAX_READ_BYTES));
    return bytes.subarray(0, length).toString();
  } catch {
    return '';
  } finally {
    closeSync(descriptor);
  }
};

const rewrite = (file: string, entries: readonly string[]): void => {
  try {
    writeUserFile(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  } catch {
    // The file merely stays longer than necessary.
  }
};
