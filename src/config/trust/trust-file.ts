/** Reads and writes SKEIN_HOME/trust.json: a person's decisions about workspaces, by real path. */
import { isRecord } from '../../lib/json/is-record.js';
import { UsageError } from '../../protocol/skein-error.js';
import { readSettingsFile } from '../json/settings-document.js';
import { writeUserFile } from '../workspace/write-user-file.js';

export interface TrustFile {
  /** Digest of the trusted settings, by workspace. */
  readonly workspaces: Readonly<Record<string, string>>;
  /** Answers to included files outside of the workspace, by workspace and file. */
  readonly includes: Readonly<Record<string, Readonly<Record<string, IncludeAnswer>>>>;
}

export type IncludeAnswer = 'yes' | 'no';

/** Returns an empty trust file if it does not exist. Throws UsageError if it cannot be read. */
export const readTrustFile = (file: string): TrustFile => {
  const raw = readSettingsFile(file);
  if (raw === undefined) return { workspaces: {}, includes: {} };
  const { version, workspaces, includes = {} } = raw;
  if (version === 1 && isRecordOf(isText, workspaces) && isRecordOf(isAnswers, includes)) {
    return { workspaces, includes } as TrustFile;
  }
  throw new UsageError(`${file} is not a trust file of this version; delete it and trust again.`);
};

export const writeTrustFile = (file: string, { workspaces, includes }: TrustFile): void => {
  const optional = Object.keys(includes).length === 0 ? {} : { includes };
  writeUserFile(file, `${JSON.stringify({ version: 1, workspaces, ...optional }, null, 2)}\n`);
};

const isRecordOf = (isEntry: (value: unknown) => boolean, value: unknown): boolean =>
  isRecord(value) && Object.values(value).every(isEntry);

const isText = (value: unknown) => typeof value === 'string';
const isAnswers = (value: unknown) =>
  isRecordOf((answer) => answer === 'yes' || answer === 'no', value);
