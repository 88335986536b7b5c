/** SKEIN_HOME/trust.json: what a person has said of workspaces, by their real paths. */
import { UsageError } from '../../protocol/errors.js';
import { isObject, readSettingsFile } from '../settings/settings-file.js';
import { writeAtomically } from '../workspace/write-atomically.js';

export interface TrustFile {
  /** A digest of the settings that were looked at, by workspace. */
  readonly workspaces: Readonly<Record<string, string>>;
  /** What was said of files outside that its instructions include: by workspace and file. */
  readonly includes: Readonly<Record<string, Readonly<Record<string, IncludeAnswer>>>>;
}

export type IncludeAnswer = 'yes' | 'no';

/** Throws a UsageError for a file of another version: trust is not guessed. */
export const readTrustBook = (file: string): TrustFile => {
  const raw = readSettingsFile(file);
  if (raw === undefined) return { workspaces: {}, includes: {} };
  const { version, workspaces, includes = {} } = raw;
  if (version === 1 && isBookOf(isText, workspaces) && isBookOf(isAnswers, includes)) {
    return { workspaces, includes } as TrustFile;
  }
  throw new UsageError(`${file} is not a trust file of this version; delete it and trust again.`);
};

export const writeTrustBook = (file: string, { workspaces, includes }: TrustFile): void => {
  const said = Object.keys(includes).length === 0 ? {} : { includes };
  writeAtomically(file, `${JSON.stringify({ version: 1, workspaces, ...said }, null, 2)}\n`);
};

const isBookOf = (isEntry: (value: unknown) => boolean, value: unknown): boolean =>
  isObject(value) && Object.values(value).every(isEntry);

const isText = (value: unknown) => typeof value === 'string';
const isAnswers = (value: unknown) => isBookOf((it) => it === 'yes' || it === 'no', value);
