/** The prompts of former days: SKEIN_HOME/history, one JSON string a line, without secrets. */
import { appendFileSync, closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { writeAtomically } from '../../config/workspace/write-atomically.js';
import { redact } from '../../policy/redaction/redaction.js';

const MOST_ENTRIES = 1_000;
/** Longer prompts are remembered until the end of the session only. */
const LONGEST_KEPT = 10_000;
/** Still longer ones are not remembered at all. */
const LONGEST_ENTRY = 100_000;
/** More than the entries need; what lies before it is not read. */
const MOST_BYTES = 4 * 1024 * 1024;

export class PromptHistory {
  /** Oldest first. */
  readonly entries: string[];
  private readonly file: string | undefined;

  /** Without a file nothing outlives the session. Never throws: history is a convenience. */
  constructor(file?: string) {
    this.file = file;
    const { entries, lines } = file === undefined ? { entries: [], lines: 0 } : read(file);
    this.entries = entries;
    if (file !== undefined && lines > MOST_ENTRIES * 2) rewrite(file, entries);
  }

  add(prompt: string): void {
    const entry = prompt.trim();
    if (entry === '' || entry === this.entries.at(-1) || entry.length > LONGEST_ENTRY) return;
    this.entries.push(entry);
    if (this.entries.length > MOST_ENTRIES) this.entries.shift();
    if (this.file === undefined || entry.length > LONGEST_KEPT) return;
    try {
      appendFileSync(this.file, `${JSON.stringify(redact(entry))}\n`, { mode: 0o600 });
    } catch {
      // A disk that is full or read-only is reported by what matters.
    }
  }
}

const read = (file: string): { entries: string[]; lines: number } => {
  const lines = tailOf(file).split('\n').slice(0, -1);
  const entries = lines.slice(-MOST_ENTRIES).flatMap((line) => {
    try {
      const entry: unknown = JSON.parse(line);
      return typeof entry === 'string' && entry !== '' ? [entry] : [];
    } catch {
      return [];
    }
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
    const bytes = Buffer.alloc(Math.min(size, MOST_BYTES));
    const length = readSync(descriptor, bytes, 0, bytes.length, Math.max(0, size - MOST_BYTES));
    return bytes.subarray(0, length).toString();
  } catch {
    return '';
  } finally {
    closeSync(descriptor);
  }
};

const rewrite = (file: string, entries: readonly string[]): void => {
  try {
    writeAtomically(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  } catch {
    // It is only longer than it need be.
  }
};
