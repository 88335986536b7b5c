/**
 * Patterns of rules about one parameter of a tool's input: `Tool(param:value)`.
 *
 *   model:opus          exactly this value
 *   timeout:5000        numbers, true, false and null as in JSON
 *   pattern:*password*  `*` matches any characters; `\*` matches a star
 *
 * A parameter that a call leaves out never matches. The values inside a list or an object are compared
 * separately: a single match is enough to deny or ask, and all values must match to allow.
 */
import { compileStarPattern } from './text-pattern.js';

type CallInput = Readonly<Record<string, unknown>>;

export interface ParameterPattern {
  readonly name: string;
  /** Pattern of the value, without white space around it. */
  readonly value: string;
}

/** Returns undefined if the pattern does not begin with a name and a colon. */
export const readParameterPattern = (pattern: string): ParameterPattern | undefined => {
  const found = /^(-?[A-Za-z_][\w.-]*)\s*:(.*)$/s.exec(pattern.trim());
  return found === null ? undefined : { name: found[1] ?? '', value: (found[2] ?? '').trim() };
};

interface ParameterRule {
  /** True if a value of the parameter matches, for deny and ask rules. */
  catches(inputs: readonly CallInput[]): boolean;
  /** True if every value of the parameter matches, for allow rules. */
  allows(inputs: readonly CallInput[]): boolean;
}

/**
 * Compiles the pattern. `inputs` of a call are the input as it was sent and as the schema parsed it.
 * `spellingsOf` returns other spellings of the same value, as a model id for its alias.
 */
export const compileParameterRule = (
  { name, value }: ParameterPattern,
  spellingsOf: (text: string) => readonly string[] = () => [],
): ParameterRule => {
  const pattern = compileStarPattern(value);
  const number = value === '' ? Number.NaN : Number(value);
  const same = new Set(pattern.exact ? spellingsOf(value) : []);
  const catchesText = (text: string) =>
    pattern.matches(text) ||
    pattern.matches(text.trim()) ||
    spellingsOf(text).some((spelling) => same.has(spelling) || pattern.matches(spelling));
  const catchesLeaf = (leaf: Leaf) => catchesText(String(leaf)) || leaf === number;
  const allowsLeaf = (leaf: Leaf) => pattern.matches(String(leaf));
  return {
    catches: (inputs) =>
      inputs.some((input) => {
        if (!Object.hasOwn(input, name)) return false;
        const given = input[name];
        return leavesOf(given).some(catchesLeaf) || pattern.matches(jsonOf(given));
      }),
    allows: (inputs) =>
      inputs.length > 0 &&
      inputs.every((input) => {
        if (!Object.hasOwn(input, name)) return false;
        const leaves = leavesOf(input[name]);
        if (leaves.length > 0 && leaves.every(allowsLeaf)) return true;
        return pattern.exact && pattern.matches(jsonOf(input[name]));
      }),
  };
};

type Leaf = string | number | boolean | null;

/** Returns the texts, numbers, booleans and nulls inside a JSON value. */
const leavesOf = (value: unknown): readonly Leaf[] => {
  const leaves: Leaf[] = [];
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'object' && next !== null) {
      for (const inner of Object.values(next)) open.push(inner);
    } else if (isLeaf(next)) leaves.push(next);
  }
  return leaves;
};

const isLeaf = (value: unknown): value is Leaf =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? '';
