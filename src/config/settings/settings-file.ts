/**
 * Reads one settings file. A file that is there but cannot be read ends the command: its deny
 * rules might be the only thing between an agent and a mistake.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { UsageError } from '../../protocol/errors.js';
import { findJsonTrouble } from '../json/json-errors.js';
import { type JsonPath, type JsonPlaces, jsonPlaces } from '../json/json-places.js';
import { depthOf } from '../json/json-scan.js';

export const MAX_SETTINGS_BYTES = 1024 * 1024;

/** Nothing in settings is deeper than a hook; what is looks for a stack to overflow. */
const DEEPEST = 64;

export type JsonObject = Readonly<Record<string, unknown>>;

/** Settings as they stand in a text, so that a complaint can name the line. */
export interface SettingsDocument {
  /** Completes "in …": the file, or what else the text came from. */
  readonly place: string;
  readonly file?: string;
  readonly value: JsonObject;
  readonly lineOf: (path: JsonPath) => number | undefined;
  readonly repeated: JsonPlaces['repeated'];
}

/** The text without a byte order mark; undefined when there is no such file. */
export const readSettingsText = (path: string): string | undefined => {
  let file: number;
  try {
    // Without O_NONBLOCK, opening a pipe somebody left there would wait for ever.
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
    if (!stat.isFile()) throw new UsageError(`${path} is not a file; remove what is there.`);
    if (stat.size > MAX_SETTINGS_BYTES) {
      throw new UsageError(
        `${path} has ${stat.size} bytes, and settings may have 1 MiB; shorten it.`,
      );
    }
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } finally {
    closeSync(file);
  }
};

/** Throws a UsageError that names the file, the line and the fix. */
export const parseSettingsText = (text: string, path: string): JsonObject => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const { line, column, fix } = findJsonTrouble(text);
    throw new UsageError(`${path} is not valid JSON at line ${line}, column ${column}: ${fix}.`, {
      cause,
    });
  }
  if (!isObject(value)) {
    throw new UsageError(`${path} must hold a JSON object: put its settings between { and }.`);
  }
  return value;
};

/** The same, knowing where everything stands. */
export const settingsDocument = (text: string, place: string, file?: string): SettingsDocument => {
  const value = parseSettingsText(text, place);
  const depth = depthOf(text);
  if (depth > DEEPEST) {
    throw new UsageError(
      `${place} is nested ${depth} levels deep, and settings may be ${DEEPEST}; flatten it.`,
    );
  }
  return { place, value, ...jsonPlaces(text), ...(file !== undefined && { file }) };
};

/** Settings that stand in no text. */
export const unwritten = (value: object, place: string): SettingsDocument => ({
  place,
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

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
