/**
 * The lines between `---` at the head of a rule, which say what files it is about.
 *
 * A rule whose front matter cannot be used holds for every file: an instruction that is read too often
 * is better than one that is lost, and a stranger gains nothing that leaving the lines out would not give.
 */
import { isDeepYaml } from '../lib/text/is-deep-yaml.js';
import { MEMORY_LIMITS } from './memory-limits.js';

export type RulePathsResult =
  | { readonly paths: readonly string[] }
  /** Finishes a sentence that begins with the name of the file. */
  | { readonly problem: string };

/** No paths when it names none. */
export const readRulePaths = async (frontMatter: string): Promise<RulePathsResult> => {
  if (!/paths/.test(frontMatter)) return { paths: [] };
  if (frontMatter.length > MEMORY_LIMITS.frontMatterCharacters) {
    return {
      problem: `has more than ${MEMORY_LIMITS.frontMatterCharacters} characters of front matter`,
    };
  }
  if (isDeepYaml(frontMatter)) return { problem: 'has front matter that is nested too deeply' };
  // A bundle knows no other name of what this package exports.
  const { parseDocument } = (await import('yaml')).default;
  const parse = (source: string): unknown => {
    try {
      // The oldest schema of plain values: no tag makes anything, and an alias is no value.
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

/** A star or a brace means something else in YAML, but people write globs without quotes. */
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

/** At commas, but not at those between braces. */
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
