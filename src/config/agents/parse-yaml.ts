/** Parses YAML as data only. */
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  type YAMLError,
} from 'yaml';
import { isRecord } from '../../lib/json/is-record.js';
import type { JsonPath } from '../json/json-places.js';
import type { JsonObject } from '../json/settings-document.js';
import type { FrontMatterMistake } from './agent-front-matter.js';

/** Aliases are forbidden, because they could expand without limit. */
const NO_ALIASES = { maxAliasCount: 0 };

export type ParsedYaml =
  | { readonly fields: JsonObject; lineOf(...path: JsonPath): number }
  | (FrontMatterMistake & { readonly isAlias?: true });

export const parseYaml = (head: string): ParsedYaml => {
  const lines = new LineCounter();
  const document = attempt(() => parseDocument(head, { lineCounter: lines, prettyErrors: false }));
  if (document === undefined) return { line: 2, fix: 'use fewer levels of nesting' };
  // An error at the end is reported for the last line that is not empty.
  const last = head.trimEnd().length;
  const lineAt = (offset: number) => lines.linePos(Math.min(offset, last)).line + 1;
  const [error] = document.errors;
  if (error !== undefined) return { line: lineAt(error.pos[0]), fix: fixOf(error) };
  const value = attempt<{ readonly fields: unknown }>(() => ({
    fields: document.toJS(NO_ALIASES),
  }));
  if (value === undefined) {
    return { line: 2, fix: 'write the values instead of aliases with *', isAlias: true };
  }
  const { fields } = value;
  if (!isRecord(fields)) return { line: 2, fix: 'write lines such as "name: value"' };
  return {
    fields,
    // A missing key is reported for line 1, where the front matter begins.
    lineOf: (...path) => {
      const at = offsetOf(document, path);
      return at === undefined ? 1 : lineAt(at);
    },
  };
};

/** Returns the offset of a key or list item. Returns undefined if it does not exist. */
const offsetOf = (document: Document, path: JsonPath): number | undefined => {
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const last = path.at(-1);
  const pair =
    isMap(parent) &&
    parent.items.find(({ key }) => (isScalar(key) ? String(key.value) : undefined) === last);
  const node = pair ? pair.key : document.getIn(path, true);
  return isNode(node) ? node.range?.[0] : undefined;
};

const attempt = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

const fixOf = ({ code, message }: YAMLError): string => FIXES[code] ?? lowerFirst(message);

const FIXES: Readonly<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY: 'put the value in quotes, since it has a colon in it',
  MULTILINE_IMPLICIT_KEY: 'write "name: value", or indent the continuation of the line above',
  MISSING_CHAR: 'close the quote or bracket that is open',
  DUPLICATE_KEY: 'keep one of the two lines with this name',
  TAB_AS_INDENT: 'indent with spaces instead of tabs',
  BAD_SCALAR_START: 'put the value in quotes, since it begins with a special character',
};

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
