/** Parses the YAML front matter of an agent file, as data only. */

import { isDeepYaml } from '../../lib/text/is-deep-yaml.js';
import type { JsonPath } from '../json/json-places.js';
import type { JsonObject } from '../json/settings-document.js';
import { parsePlainYaml } from './parse-plain-yaml.js';
import { parseYaml } from './parse-yaml.js';
import { readFrontMatterLines } from './read-front-matter-lines.js';

export type AgentFrontMatter =
  | {
      readonly fields: JsonObject;
      lineOf(...path: JsonPath): number;
      /** Mistake because of which the fields were read line by line. */
      readonly mistake?: FrontMatterMistake;
    }
  | FrontMatterMistake;

export interface FrontMatterMistake {
  /** Counts from 1 at the beginning of the file. */
  readonly line: number;
  /** Imperative clause without a full stop. */
  readonly fix: string;
}

/** In characters. The parser compares each key with all others, so long front matter takes too long. */
const MAX_FRONT_MATTER_LENGTH = 8_192;

/** Front matter that is not valid YAML is read line by line, with `knownFields` as its keys. */
export const parseAgentFrontMatter = (
  head: string,
  knownFields: readonly string[],
): AgentFrontMatter => {
  if (head.length > MAX_FRONT_MATTER_LENGTH) {
    return {
      line: 2,
      fix: `write at most ${MAX_FRONT_MATTER_LENGTH} characters above the second line ---`,
    };
  }
  if (isDeepYaml(head)) return { line: 2, fix: 'use fewer levels of nesting' };
  const whole = parsePlainYaml(head) ?? parseYaml(head);
  if (!('fix' in whole) || whole.isAlias === true) return whole;
  const { line, fix } = whole;
  const read = readFrontMatterLines(head, knownFields, parseYaml);
  return 'fix' in read ? read : { ...read, mistake: { line, fix } };
};
