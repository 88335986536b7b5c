/** Collects the mistakes in a settings file as sentences that name the file, the line and the fix. */

import { didYouMean } from '../../lib/text/did-you-mean.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { JsonPath, RepeatedKey } from '../json/json-places.js';
import type { SettingsDocument } from '../json/settings-document.js';

/** For each file. */
const MAX_WARNINGS = 20;

export class SettingsWarnings {
  private readonly document: SettingsDocument;
  private readonly isStrict: boolean;
  private readonly listed: string[] = [];
  private unlistedCount = 0;

  /** If `isStrict`, every mistake that would be ignored throws UsageError instead. */
  constructor(document: SettingsDocument, isStrict: boolean) {
    this.document = document;
    this.isStrict = isStrict;
  }

  get warnings(): readonly string[] {
    if (this.unlistedCount === 0) return this.listed;
    return [...this.listed, `${this.document.origin} has ${this.unlistedCount} more mistakes.`];
  }

  /** Adds an invalid value. `fix` completes "is ignored: …". Throws UsageError if fatal or strict. */
  unusable(path: JsonPath, fix: string, isFatal = false): void {
    if (isFatal || this.isStrict) {
      throw new UsageError(`${this.about(path)} cannot be used: ${fix}.`);
    }
    this.warn(`${this.about(path)} is ignored: ${fix}.`);
  }

  /** Adds an unknown key. `knownKeys` are the valid keys, `sections` the sections that the key belongs to. */
  unknown(path: JsonPath, knownKeys: readonly string[], sections: readonly string[]): void {
    if (this.listed.length === MAX_WARNINGS) {
      this.unlistedCount += 1;
      return;
    }
    const suggestion = didYouMean(String(path.at(-1)), knownKeys);
    const parent = path.slice(0, -1);
    const fix =
      sections.length > 0
        ? `move it into ${sections.join(' or ')}`
        : suggestion === undefined
          ? 'check its spelling or remove it'
          : `did you mean ${settingName([...parent, suggestion])}?`;
    const end = fix.endsWith('?') ? '' : '.';
    this.warn(`${this.about(path)} is unknown and has no effect: ${fix}${end}`);
  }

  /** Adds a repeated key. Throws UsageError for rules and hooks, because only the last occurrence counts. */
  repeated({ path, line, firstLine }: RepeatedKey): void {
    const isFatal = path[0] === 'permissions' || path[0] === 'hooks';
    const where = `${settingName(path)} in ${this.document.origin}, line ${line},`;
    const sentence = `${where} is already in line ${firstLine}, and only the last one counts: join them.`;
    if (isFatal) throw new UsageError(sentence);
    this.warn(sentence);
  }

  /** Returns the subject of a sentence: `skein.maxAgents in /home/ada/.skein/settings.json, line 3,`. */
  about(path: JsonPath): string {
    const { origin, lineOf } = this.document;
    const line = lineOf(path);
    return `${settingName(path)} in ${origin}${line === undefined ? '' : `, line ${line},`}`;
  }

  private warn(sentence: string): void {
    if (this.listed.length < MAX_WARNINGS) this.listed.push(sentence);
    else this.unlistedCount += 1;
  }
}

const MAX_NAME_LENGTH = 120;

/** Returns a name such as `permissions.allow[2]`. Items count from 0. */
export const settingName = (path: JsonPath): string => {
  const name = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  const text = name.replace(/^\./, '');
  return text.length > MAX_NAME_LENGTH ? `${text.slice(0, MAX_NAME_LENGTH)}…` : text;
};

/** Describes a value in a sentence, without the members of lists and objects. */
export const describeValue = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return 'another value';
  // Even an invalid URL may contain a password.
  const shown = value.replace(/:\/\/.*@/s, '://***@');
  return `the text "${shown.length > 60 ? `${shown.slice(0, 60)}…` : shown}"`;
};
