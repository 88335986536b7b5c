/** Finds the position at which text stops being JSON, and suggests a fix. */
import { scanJson } from './scan-json.js';

export interface JsonError {
  /** Counts from 1. */
  readonly line: number;
  /** Counts from 1. */
  readonly column: number;
  /** Imperative clause without a full stop. */
  readonly fix: string;
}

export const findJsonError = (text: string): JsonError => {
  const offset = scanJson(text);
  const before = text.slice(0, offset).split('\n');
  const fix = suggestFix(text, offset);
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, fix };
};

const suggestFix = (text: string, offset: number): string => {
  const rest = text.slice(offset, offset + 2);
  const before = text.slice(0, offset).trimEnd().at(-1);
  if (text.trim() === '') return 'write {} or delete the file';
  if (rest === '') return 'add the missing quote, bracket or brace at the end';
  if (rest === '//' || rest === '/*' || rest[0] === '#') return 'remove the comment';
  if (rest[0] === "'") return 'use double quotes';
  if (before === ',' && /[}\]]/.test(rest)) return 'remove the comma before it';
  if (rest[0] === '"' && before !== undefined && /["}\]\del]/.test(before)) {
    return 'put a comma before it';
  }
  if (rest[0] === '"') return 'close the quote on the same line and check its backslashes';
  if (/[A-Za-z_]/.test(rest)) return 'put double quotes around names and texts';
  return `remove or complete "${rest[0]}"`;
};
