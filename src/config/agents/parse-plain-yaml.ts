/** Parses front matter of plain lines `key: value` as YAML does, because the parser of YAML takes 10 ms to load. */
import type { ParsedYaml } from './parse-yaml.js';

/** A key, and a text that starts with a letter or a whole number. */
const LINE = /^([A-Za-z][\w-]*): ([A-Za-z](?:[\w ,.;()'"/*+!?=-]|:(?=[^\s]))*|0|[1-9]\d{0,14})$/;
/** Words that may be values of another type. */
const WORD = /^(?:null|true|false|yes|no|on|off|y|n)$/i;

/** Returns undefined if a line is not plain. */
export const parsePlainYaml = (
  head: string,
): Extract<ParsedYaml, { fields: unknown }> | undefined => {
  const fields = new Map<string, string | number>();
  const lines = head.replace(/\n$/, '').split('\n');
  for (const line of lines) {
    const [, key = '', value = ''] = LINE.exec(line) ?? [];
    if (key === '' || fields.has(key) || WORD.test(key) || WORD.test(value)) return undefined;
    if (value.endsWith(' ')) return undefined;
    fields.set(key, /^\d/.test(value) ? Number(value) : value);
  }
  const keys = [...fields.keys()];
  return {
    fields: Object.fromEntries(fields),
    lineOf: (...path) => (path.length === 1 ? keys.indexOf(String(path[0])) + 2 : 1),
  };
};
