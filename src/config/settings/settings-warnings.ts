/** What is wrong in one settings file: a sentence each, with the file, the line and what to do. */
import { UsageError } from '../../protocol/errors.js';
import { nearest } from '../json/did-you-mean.js';
import type { JsonPath, RepeatedKey } from '../json/json-places.js';
import type { SettingsDocument } from './settings-file.js';

/** More help nobody. */
const MOST_WARNINGS = 20;

export class SettingsWarnings {
  private readonly document: SettingsDocument;
  private readonly isStrict: boolean;
  private readonly ownWarnings: string[] = [];
  private left = 0;

  /** When strict, everything that would be ignored ends the command: somebody typed it just now. */
  constructor(document: SettingsDocument, isStrict: boolean) {
    this.document = document;
    this.isStrict = isStrict;
  }

  get warnings(): readonly string[] {
    if (this.left === 0) return this.ownWarnings;
    return [...this.ownWarnings, `${this.document.place} has ${this.left} more such mistakes.`];
  }

  /** `fix` completes "is ignored: …". Throws a UsageError where ignoring it would be less safe. */
  unusable(path: JsonPath, fix: string, isFatal = false): void {
    if (isFatal || this.isStrict) {
      throw new UsageError(`${this.about(path)} cannot be used: ${fix}.`);
    }
    this.warn(`${this.about(path)} is ignored: ${fix}.`);
  }

  /** A key that means nothing here; `known` are those that do, `homes` where it would belong. */
  unknown(path: JsonPath, known: readonly string[], homes: readonly string[]): void {
    if (this.ownWarnings.length === MOST_WARNINGS) {
      this.left += 1;
      return;
    }
    const meant = nearest(String(path.at(-1)), known);
    const around = path.slice(0, -1);
    const fix =
      homes.length > 0
        ? `move it into ${homes.join(' or ')}`
        : meant === undefined
          ? 'check its spelling or remove it'
          : `did you mean ${nameOf([...around, meant])}?`;
    const end = fix.endsWith('?') ? '' : '.';
    this.warn(`${this.about(path)} is unknown and not used: ${fix}${end}`);
  }

  /** The last one counts, so what the others would have forbidden is allowed. */
  repeated({ path, line, firstLine }: RepeatedKey): void {
    const isFatal = path[0] === 'permissions' || path[0] === 'hooks';
    const where = `${nameOf(path)} in ${this.document.place}, line ${line},`;
    const sentence = `${where} is there already in line ${firstLine}, and only the last counts: join them.`;
    if (isFatal) throw new UsageError(sentence);
    this.warn(sentence);
  }

  /** `skein.maxAgents in /home/ada/.skein/settings.json, line 3,` */
  about(path: JsonPath): string {
    const { place, lineOf } = this.document;
    const line = lineOf(path);
    return `${nameOf(path)} in ${place}${line === undefined ? '' : `, line ${line},`}`;
  }

  private warn(sentence: string): void {
    if (this.ownWarnings.length < MOST_WARNINGS) this.ownWarnings.push(sentence);
    else this.left += 1;
  }
}

const LONGEST_NAME = 120;

/** `permissions.allow[2]`: items count from 0, as everywhere in JSON paths. */
export const nameOf = (path: JsonPath): string => {
  const name = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  const text = name.replace(/^\./, '');
  return text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME)}…` : text;
};

/** A value for a sentence: short, and without what a list or an object holds. */
export const describe = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return 'something else';
  // An address that cannot be used may have a password in it all the same.
  const shown = value.replace(/:\/\/.*@/s, '://***@');
  return `the text "${shown.length > 60 ? `${shown.slice(0, 60)}…` : shown}"`;
};
