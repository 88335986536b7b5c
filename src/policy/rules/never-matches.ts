/**
 * Finds rules that can never match a call: an unknown tool or parameter, a value that the parameter cannot
 * have, or a pattern for a tool whose calls have no target.
 *
 * The tools of MCP servers are unknown when rules are checked, so all rules for them may match.
 */
import { didYouMean } from '../../lib/text/did-you-mean.js';
import { isForeignTool, toolNamed } from '../../protocol/tools/tool-named.js';
import { readDomainPattern } from './domain-pattern.js';
import { readParameterPattern } from './parameter-pattern.js';
import { isMcpTool, type ParsedRule } from './parse-rule.js';
import { targetParameter } from './rule-subject.js';
import { compileStarPattern } from './text-pattern.js';

type JsonSchema = Readonly<Record<string, unknown>>;

/** A tool that rules may name. */
interface KnownTool {
  readonly name: string;
  /** JSON Schema of the input. */
  readonly inputSchema: JsonSchema;
  /** True for a tool of the host program whose calls have a subject. */
  readonly hasSubject: boolean;
}

export interface KnownTools {
  readonly tools: readonly KnownTool[];
  /** False on a worker, because a worker does not know the tools of the host program. */
  readonly areAll: boolean;
}

/** Returns why the rule can never match, or undefined if the rule may match. */
export const neverMatches = (
  { tool, pattern }: ParsedRule,
  { tools, areAll }: KnownTools,
): string | undefined => {
  if (tool === '*' || isMcpTool(tool)) return undefined;
  const name = toolNamed(tool);
  const known = tools.find((candidate) => candidate.name === name);
  if (known === undefined) {
    if (!areAll || isForeignTool(name)) return undefined;
    const names = tools.map((candidate) => candidate.name);
    return `there is no tool named "${tool}"${suggestion(tool, names)}`;
  }
  if (pattern === undefined || pattern.trim() === '*') return undefined;
  const parameter = readParameterPattern(pattern);
  const schema = parameter && parametersOf(known)[parameter.name];
  if (parameter === undefined) return patternProblem(known, pattern.trim());
  if (schema === undefined) return unknownParameter(known, parameter.name, pattern.trim());
  if (name === 'WebFetch' && parameter.name === 'url') return addressProblem(parameter.value);
  return mayBe(schema, parameter.value)
    ? undefined
    : `"${parameter.value}" is no value of the parameter "${parameter.name}" of ${tool}${valuesOf(schema)}`;
};

/** Returns why a pattern that names no parameter never matches. */
const patternProblem = (tool: KnownTool, pattern: string): string | undefined => {
  if (tool.name === 'WebFetch') return addressProblem(pattern);
  if (targetParameter(tool.name) !== undefined || tool.hasSubject) return undefined;
  const [parameter] = Object.keys(parametersOf(tool));
  const forms =
    parameter === undefined ? tool.name : `${tool.name} or ${tool.name}(${parameter}:…)`;
  return `calls of ${tool.name} have no target that a pattern could match; write ${forms}`;
};

const unknownParameter = (
  tool: KnownTool,
  parameter: string,
  pattern: string,
): string | undefined => {
  const { name } = tool;
  if (name === 'WebFetch') {
    return readDomainPattern(pattern) === undefined ? addressProblem(pattern) : undefined;
  }
  const names = Object.keys(parametersOf(tool));
  const similar = didYouMean(parameter, names);
  // `name:*` is a command that begins with the name.
  if (name === 'Bash' && pattern === `${parameter}:*`) return undefined;
  // Names of agents and subjects of the host program may contain a colon.
  if ((name === 'Task' || tool.hasSubject) && similar === undefined) return undefined;
  const listed = names.length === 0 ? '' : ` (it has ${names.join(', ')})`;
  const meant =
    similar === undefined ? otherForm(name, parameter, pattern) : `; did you mean ${similar}?`;
  return `${name} has no parameter "${parameter}"${similar === undefined ? listed : ''}${meant}`;
};

/** Returns the spelling of a rule that is about a command or a file, and not about a parameter. */
const otherForm = (tool: string, parameter: string, pattern: string): string => {
  if (tool === 'Bash') return `; write Bash(${parameter}:*) for the command ${parameter}`;
  const target = targetParameter(tool);
  const isPath = target?.endsWith('path') === true;
  return isPath ? `; write ${tool}(./${pattern}) for a file of this name` : '';
};

/** Returns why no address of WebFetch matches the pattern. */
const addressProblem = (pattern: string): string | undefined => {
  const start = (/^[^*\\]*/.exec(pattern)?.[0] ?? '').toLowerCase();
  const isOpen = start.length < pattern.length;
  const canBegin = ['http://', 'https://'].some(
    (scheme) => start.startsWith(scheme) || (isOpen && scheme.startsWith(start)),
  );
  if (canBegin && (isOpen || URL.canParse(pattern))) return undefined;
  return 'an address begins with http:// or https://; write WebFetch(domain:example.com) or WebFetch(url:https://example.com/*)';
};

const parametersOf = ({ inputSchema }: KnownTool): Readonly<Record<string, JsonSchema>> =>
  (inputSchema.properties ?? {}) as Readonly<Record<string, JsonSchema>>;

/** True if a value that fits the schema, or a value inside, may match the pattern. */
const mayBe = (schema: JsonSchema, value: string): boolean => {
  const options = optionsOf(schema);
  if (options !== undefined) {
    const { matches } = compileStarPattern(value);
    return options.some((option) => matches(String(option)));
  }
  if (schema.type !== 'number' && schema.type !== 'integer') return true;
  if (value.includes('*')) return /^[-+.\de*]*$/i.test(value);
  const number = Number(value);
  const { minimum = -Infinity, maximum = Infinity } = schema;
  if (Number.isNaN(number) || number < Number(minimum) || number > Number(maximum)) return false;
  return schema.type === 'number' || Number.isInteger(number);
};

/** Returns the values that the schema allows, or undefined if the schema has no list of values. */
const optionsOf = (schema: JsonSchema): readonly unknown[] | undefined => {
  if (Array.isArray(schema.enum)) return schema.enum;
  if ('const' in schema) return [schema.const];
  return schema.type === 'boolean' ? [true, false] : undefined;
};

const valuesOf = (schema: JsonSchema): string => {
  const options = optionsOf(schema);
  return options === undefined ? '' : `; its values are ${options.map(String).join(', ')}`;
};

const suggestion = (typed: string, names: readonly string[]): string => {
  const similar = didYouMean(typed, names);
  return similar === undefined ? '' : `; did you mean ${similar}?`;
};
