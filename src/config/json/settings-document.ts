/**
 * Reads a settings file, with the line of each value.
 *
 * A file that exists and cannot be read ends the command, because its deny rules would be lost.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { isRecord } from '../../lib/json/is-record.js';
import { UsageError } from '../../protocol/skein-error.js';
import { findJsonError } from './json-error.js';
import { type JsonPath, type JsonPlaces, jsonPlaces } from './json-places.js';
import { jsonDepth } from './scan-json.js';

const MAX_SETTINGS_BYTES = 1024 * 1024;

/** Maximum nesting, against stack overflows. Valid settings are never as deep. */
const MAX_DEPTH = 64;

export type JsonObject = Readonly<Record<string, unknown>>;

/** Settings with the lines of their values, so that warnings can name them. */
export interface SettingsDocument {
  /** File or other source of the settings, for sentences. */
  readonly origin: string;
  readonly file?: string;
  readonly value: JsonObject;
  /** Returns the line of a value, from 1. Returns undefined if it has none. */
  readonly lineOf: (path: JsonPath) => number | undefined;
  readonly repeated: JsonPlaces['repeated'];
}

/** Returns the text without a byte order mark. Returns undefined if the file does not exist. Throws UsageError. */
export const readSettingsText = (path: string): string | undefined => {
  let file: number;
  try {
    // Without O_NONBLOCK, opening a named pipe would block forever.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new UsageError(`Cannot read ${path} (${code}); make it readable or remove it.`, {
      cause,
    });
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new UsageError(`${path} is not a regular file; remove it.`);
    if (stat.size > MAX_SETTINGS_BYTES) {
      throw new UsageError(`${path} has ${stat.size} bytes; the limit is 1 MiB, so shorten it.`);
    }
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } finally {
    closeSync(file);
  }
};

/** Throws UsageError that names the file, the line and the fix. */
export const parseSettingsText = (text: string, path: string): JsonObject => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const { line, column, fix } = findJsonError(text);
    throw new UsageError(`${path} is not valid JSON at line ${line}, column ${column}: ${fix}.`, {
      cause,
    });
  }
  if (!isRecord(value)) {
    throw new UsageError(`${path} must contain a JSON object: put its settings between { and }.`);
  }
  return value;
};

/** Parses settings with the lines of their values. Throws UsageError. */
export const settingsDocument = (text: string, origin: string, file?: string): SettingsDocument => {
  const value = parseSettingsText(text, origin);
  const depth = jsonDepth(text);
  if (depth > MAX_DEPTH) {
    throw new UsageError(
      `${origin} is nested ${depth} levels deep; the limit is ${MAX_DEPTH}, so flatten it.`,
    );
  }
  return { origin, value, ...jsonPlaces(text), ...(file !== undefined && { file }) };
};

/** Returns a document for values that come from no text, such as flags. */
export const documentOfValue = (value: object, origin: string): SettingsDocument => ({
  origin,
  value: { ...value },
  lineOf: () => undefined,
  repeated: [],
});

export const readSettingsDocument = (path: string): SettingsDocument | undefined => {
  const text = readSettingsText(path);
  return text === undefined ? undefined : settingsDocument(text, path, path);
};

export const readSettingsFile = (path: string): JsonObject | undefined => {
  const text = readSettingsText(path);
  return text === undefined ? undefined : parseSettingsText(text, path);
};
