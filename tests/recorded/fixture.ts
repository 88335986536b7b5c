/**
 * The fixture of a recorded session: a gzip file of JSON for each kind of store.
 * `zcat tests/recorded/fixtures/files.json.gz | jq .looks` shows a part of it.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { StoredEntry } from './folder-state.js';
import type { Kind } from './recorded-place.js';
import type { StoredKey } from './redis-state.js';

/** Files and Redis keys after the last process has ended. */
export interface RecordedState {
  readonly home: readonly StoredEntry[];
  readonly workspace: readonly StoredEntry[];
  /** Undefined if the session is in files. */
  readonly redis?: readonly StoredKey[];
}

export interface Fixture {
  readonly state: RecordedState;
  /** Outputs of commands that show the past of the session, as printed. */
  readonly looks: Readonly<Record<string, string>>;
  /** Raw request bodies in UTF-8. */
  readonly requests: Readonly<Record<string, string>>;
  /** Entries of the workspace after the rewind, as `treeOf` lists them. */
  readonly rewoundTree: readonly string[];
}

const FOLDER = resolve('tests/recorded/fixtures');

const fileOf = (kind: Kind): string => resolve(FOLDER, `${kind}.json.gz`);

export const readFixture = async (kind: Kind): Promise<Fixture> =>
  JSON.parse(gunzipSync(await readFile(fileOf(kind))).toString()) as Fixture;

export const writeFixture = async (kind: Kind, fixture: Fixture): Promise<void> => {
  await mkdir(FOLDER, { recursive: true });
  const text = `${JSON.stringify(fixture, null, 1)}\n`;
  await writeFile(fileOf(kind), gzipSync(text, { level: 9 }));
};
