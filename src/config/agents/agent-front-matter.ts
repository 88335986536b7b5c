/** The YAML between two lines of dashes that a Markdown file may begin with. It is only ever data. */
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  type YAMLError,
} from 'yaml';
import { isDeepYaml } from '../../lib/front-matter.js';
import type { JsonPath } from '../json/json-places.js';
import { isObject, type JsonObject } from '../settings/settings-file.js';

export type FrontMatter =
  | { readonly fields: JsonObject; lineOf(...path: JsonPath): number }
  /** `line` counts from the beginning of the file. */
  | { readonly line: number; readonly fix: string };

/** Names that refer to other places could multiply without end, so there may be none. */
const NO_ALIASES = { maxAliasCount: 0 };

/** Each key is compared with all others: 200 files of 100 KiB of keys would take many minutes. */
const LARGEST = 8_192;

export const parseFrontMatter = (head: string): FrontMatter => {
  if (head.length > LARGEST) {
    return { line: 2, fix: `write at most ${LARGEST} characters above the second line ---` };
  }
  const lines = new LineCounter();
  const document = isDeepYaml(head)
    ? undefined
    : attempt(() => parseDocument(head, { lineCounter: lines, prettyErrors: false }));
  if (document === undefined) return { line: 2, fix: 'write fewer levels into each other' };
  // What is missing at the end is missing from the last line that has something.
  const last = head.trimEnd().length;
  const lineAt = (offset: number) => lines.linePos(Math.min(offset, last)).line + 1;
  const [error] = document.errors;
  if (error !== undefined) return { line: lineAt(error.pos[0]), fix: fixOf(error) };
  const value = attempt<{ readonly fields: unknown }>(() => ({
    fields: document.toJS(NO_ALIASES),
  }));
  if (value === undefined) {
    return { line: 2, fix: 'write values out instead of referring to others with *' };
  }
  const { fields } = value;
  if (!isObject(fields)) return { line: 2, fix: 'write lines such as "name: value"' };
  return {
    fields,
    // Of a key that is not there: the first, where the front matter begins.
    lineOf: (...path) => {
      const at = offsetOf(document, path);
      return at === undefined ? 1 : lineAt(at);
    },
  };
};

/** Of the key, or of the item in a list. */
const offsetOf = (document: Document, path: JsonPath): number | undefined => {
  const around = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const last = path.at(-1);
  const pair =
    isMap(around) &&
    around.items.find(({ key }) => (isScalar(key) ? String(key.value) : undefined) === last);
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
  MULTILINE_IMPLICIT_KEY: 'write "name: value", or indent what belongs to the line above',
  MISSING_CHAR: 'close the quote or bracket that is open',
  DUPLICATE_KEY: 'keep one of the two lines with this name',
  TAB_AS_INDENT: 'indent with spaces instead of tabs',
  BAD_SCALAR_START: 'put the value in quotes, since it begins with a special character',
};

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
