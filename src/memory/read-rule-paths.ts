/**
 * Reads the `paths` patterns from the front matter of a rule.
 *
 * A rule with unusable front matter applies to every file, because an instruction that is read too
 * often is better than a lost instruction. An attacker gains no more than by omitting the front
 * matter.
 */
import { isDeepYaml } from '../lib/text/is-deep-yaml.js';
import { MEMORY_LIMITS } from './memory-limits.js';

export type RulePathsResult =
  | { readonly paths: readonly string[] }
  /** End of a sentence that starts with the file name. */
  | { readonly problem: string };

/** Returns an empty list if the front matter names no paths. Never rejects. */
export const readRulePaths = async (frontMatter: string): Promise<RulePathsResult> => {
  if (!/paths/.test(frontMatter)) return { paths: [] };
  if (frontMatter.length > MEMORY_LIMITS.frontMatterCharacters) {
    return {
      problem: `has more than ${MEMORY_LIMITS.frontMatterCharacters} characters of front matter`,
    };
  }
  if (isDeepYaml(frontMatter)) return { problem: 'has front matter that is nested too deeply' };
  // In the bundle only the default export of the package is available.
  const { parseDocument } = (await import('yaml')).default;
  const parse = (source: string): unknown => {
    try {
      // The core schema creates plain values only: no custom tags, and aliases are rejected.
      const document = parseDocument(source, { schema: 'core', logLevel: 'silent' });
      return document.errors.length > 0 ? BROKEN : document.toJS(PLAIN);
    } catch {
      return BROKEN;
    }
  };
  const first = parse(frontMatter);
  const value = first === BROKEN ? parse(quoteGlobs(frontMatter)) : first;
  return value === BROKEN ? { problem: 'has front matter that is not YAML' } : pathsIn(value);
};

const BROKEN = Symbol('broken');
const PLAIN = { mapAsMap: true, maxAliasCount: 0 } as const;

/** Quotes globs that start with a star or a brace, because those characters are YAML syntax. */
const quoteGlobs = (source: string): string =>
  source.replaceAll(
    /^([ \t]*(?:-[ \t]+|paths:[ \t]*))([*{].*?)[ \t]*$/gm,
    (_, head: string, glob: string) => head + JSON.stringify(glob),
  );

const pathsIn = (value: unknown): RulePathsResult => {
  const paths: unknown = value instanceof Map ? value.get('paths') : undefined;
  if (paths === undefined || paths === null) return { paths: [] };
  const listed: readonly unknown[] = Array.isArray(paths) ? paths : [paths];
  const texts = listed.filter((path) => typeof path === 'string');
  if (texts.length < listed.length) {
    return { problem: 'has `paths` that are neither a text nor a list of texts' };
  }
  return { paths: texts.flatMap(splitList) };
};

/** Splits at commas outside of braces. */
const splitList = (list: string): readonly string[] => {
  let depth = 0;
  const items = [''];
  for (const character of list) {
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    if (character === ',' && depth <= 0) items.push('');
    else items.push(`${items.pop() ?? ''}${character}`);
  }
  return items.map((item) => item.trim()).filter(Boolean);
};
