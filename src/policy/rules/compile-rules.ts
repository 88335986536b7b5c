/** Compiles permission rules into matchers, and reports the rules that cannot be parsed. */
import type { PermissionRule } from '../../protocol/permission/permission-rule.js';
import type { AnalysedCall } from '../analysed-call.js';
import type { PathEnvironment } from '../paths/resolved-paths.js';
import type { ShellPart } from '../shell/shell-part.js';
import { type CommandRule, compileCommandRule } from './command-rule.js';
import { addressSpellings, readDomainPattern } from './domain-pattern.js';
import { type KnownTools, neverMatches } from './never-matches.js';
import {
  compileParameterRule,
  type ParameterPattern,
  readParameterPattern,
} from './parameter-pattern.js';
import { coversTool, isMcpTool, type ParsedRule, parseRule } from './parse-rule.js';
import {
  compileInputPath,
  compilePathPattern,
  type PathPattern,
  pathPatternProblem,
} from './path-pattern.js';
import { runsCommand, targetParameter, touchesFile } from './rule-subject.js';
import { compileTextPattern, unescapeParameter } from './text-pattern.js';

export interface CompiledRule {
  readonly rule: PermissionRule;
  /** True if the rule has a pattern for the target of a call, other than `*`. */
  readonly isNarrow: boolean;
  matches(call: AnalysedCall): boolean;
  /** True if the rule matches because of the call's target, and not only because of another parameter. */
  matchesTarget(call: AnalysedCall): boolean;
  /** True if the rule, as an allow rule, covers this part of a command line. */
  allowsPart(part: ShellPart): boolean;
  /** True if the rule, as an allow rule, lets a redirection read or write all of these paths. */
  allowsPaths(paths: readonly string[], isWrite: boolean): boolean;
}

export interface RuleProblem {
  readonly rule: PermissionRule;
  /** Sentence that names the rule, the file and the mistake. */
  readonly message: string;
  /** True for a deny or ask rule: the caller must stop, because the rule would have no effect. */
  readonly fatal: boolean;
}

export interface CompiledRules {
  readonly rules: readonly CompiledRule[];
  readonly problems: readonly RuleProblem[];
}

export interface RuleEnvironment extends PathEnvironment {
  /** Returns the model id of an alias, or the name itself. Default: every name is an id. */
  readonly modelNamed?: ((name: string) => string) | undefined;
}

export const compileRules = (
  rules: readonly PermissionRule[],
  root: string,
  environment: RuleEnvironment,
): CompiledRules => {
  const compiled: CompiledRule[] = [];
  const problems: RuleProblem[] = [];
  for (const rule of rules) {
    const reading = parseRule(rule.text);
    const problem = reading.ok ? patternProblem(reading.rule) : reading.problem;
    if (problem !== undefined) problems.push(report(rule, `cannot be read: ${problem}`));
    else if (reading.ok) compiled.push(compileRule(rule, reading.rule, root, environment));
  }
  return { rules: compiled, problems };
};

/** Checks rules without building a policy. With `known`, also reports rules that can never match a call. */
export const ruleProblems = (
  rules: readonly PermissionRule[],
  known?: KnownTools,
): readonly RuleProblem[] => {
  const unreadable = compileRules(rules, '/', NO_DISK).problems;
  const broken = new Set(unreadable.map(({ rule }) => rule));
  const idle = rules.flatMap((rule) => {
    const reading = parseRule(rule.text);
    if (known === undefined || broken.has(rule) || !reading.ok) return [];
    const problem = neverMatches(reading.rule, known);
    return problem === undefined ? [] : [report(rule, `can never match: ${problem}`)];
  });
  return [...unreadable, ...idle];
};

const NO_DISK = { home: '/', realPath: (path: string) => path, ignoreCase: false };

type Matcher = Pick<CompiledRule, 'matches' | 'allowsPart' | 'allowsPaths'>;

/**
 * Compiles a rule. A pattern such as `timeout:*` may be about a parameter or about the target of a call: a
 * deny or ask rule then has both meanings, an allow rule only the meaning about the parameter. In an allow
 * rule for commands, `name:*` is always a command that begins with this name.
 */
const compileRule = (
  rule: PermissionRule,
  { tool, pattern }: ParsedRule,
  root: string,
  environment: RuleEnvironment,
): CompiledRule => {
  if (pattern === undefined) {
    const onTool = toolMatcher(tool);
    return { rule, isNarrow: false, matchesTarget: onTool.matches, ...onTool };
  }
  const where = {
    home: environment.home,
    root,
    file: rule.file,
    ignoreCase: environment.ignoreCase,
  };
  const onTarget = targetMatcher(
    rule,
    { tool, pattern: unescapeParameter(pattern) },
    compilePathPattern(pattern, where),
    environment,
  );
  const parameter = parameterIn(tool, pattern);
  if (parameter === undefined) {
    return { rule, isNarrow: hasText(pattern), matchesTarget: onTarget.matches, ...onTarget };
  }
  const { name, value } = parameter;
  const onValue = compileParameterRule(parameter, spellingsOf(tool, name, environment));
  const inputsOf = ({ request }: AnalysedCall) =>
    coversTool(tool, request.tool) ? (request.inputs ?? []) : [];
  const onNamed =
    name === targetParameter(tool)
      ? targetMatcher(rule, { tool, pattern: value }, compileInputPath(value, where), environment)
      : undefined;
  const isPrefix = value === '*' && coversTool(tool, 'Bash');
  const matchesTarget = (call: AnalysedCall) =>
    onTarget.matches(call) || onNamed?.matches(call) === true;
  const allows = (call: AnalysedCall) => {
    const inputs = inputsOf(call);
    const isGiven = inputs.some((input) => Object.hasOwn(input, name));
    if (!isGiven || (isPrefix && runsCommand(call.request))) return onTarget.matches(call);
    if (onNamed === undefined) return onValue.allows(inputs);
    // A command may be written in another way than in the rule, a path and an address may not.
    return onNamed.matches(call) && (runsCommand(call.request) || onValue.allows(inputs));
  };
  const { allowsPart } = onNamed === undefined || isPrefix ? onTarget : onNamed;
  return {
    rule,
    isNarrow: hasText(onNamed === undefined || isPrefix ? pattern : value),
    matches:
      rule.behavior === 'allow'
        ? allows
        : (call) => matchesTarget(call) || onValue.catches(inputsOf(call)),
    matchesTarget,
    allowsPart,
    allowsPaths: onTarget.allowsPaths,
  };
};

/** Returns undefined if the pattern is not about a parameter. */
const parameterIn = (tool: string, pattern: string): ParameterPattern | undefined => {
  const parameter = readParameterPattern(pattern);
  const isDomain = parameter?.name === 'domain' && (tool === '*' || tool.startsWith('Web'));
  return isDomain ? undefined : parameter;
};

const hasText = (pattern: string): boolean => !/^[*:\s]*$/.test(pattern);

/** Returns the function that finds other spellings of a value of the parameter. */
const spellingsOf = (
  tool: string,
  name: string,
  { modelNamed }: RuleEnvironment,
): ((text: string) => readonly string[]) => {
  if (name === 'url' && coversTool(tool, 'WebFetch')) return addressSpellings;
  if (name === 'model' && coversTool(tool, 'Task') && modelNamed !== undefined) {
    return (text) => [modelNamed(text.trim())];
  }
  return () => [];
};

/** Matches every call of the tool. */
const toolMatcher = (tool: string): Matcher => ({
  matches: (call) => coversCall(tool, call),
  allowsPart: () => tool === '*',
  allowsPaths: (_, isWrite) => coversRedirect(tool, isWrite),
});

const coversRedirect = (tool: string, isWrite: boolean): boolean =>
  tool === '*' || tool === (isWrite ? 'Edit' : 'Read') || (isWrite && tool === 'Write');

/** Matches the calls of the tool whose target matches the pattern. */
const targetMatcher = (
  rule: PermissionRule,
  { tool, pattern }: Required<ParsedRule>,
  onPath: PathPattern,
  environment: PathEnvironment,
): Matcher => {
  const { toParentPath } = environment;
  const bases = [...new Set([onPath.base, environment.realPath(onPath.base)])];
  const isHit = (path: string) => bases.some((base) => onPath.matches(path, base));
  const hits =
    toParentPath === undefined ? isHit : (path: string) => isHit(path) || isHit(toParentPath(path));
  const onCommand = lazy(() => compileCommandRule(pattern.trim()));
  const onText = textMatcher(rule, pattern, onCommand);
  // A deny or ask rule matches any name of the file; an allow rule must cover every name.
  const onPaths =
    rule.behavior === 'allow'
      ? (paths: readonly string[]) => paths.every(hits)
      : (paths: readonly string[]) => paths.some(hits);
  return {
    matches(call) {
      if (!coversCall(tool, call)) return isNamedByCommand(rule, tool, call, onPaths);
      return touchesFile(call.request) ? onPaths(call.paths) : onText(call);
    },
    allowsPart: (part) => coversTool(tool, 'Bash') && onCommand().allows(part),
    allowsPaths: (paths, isWrite) => coversRedirect(tool, isWrite) && paths.every(hits),
  };
};

/** True if the rule's tool covers the call. `Read` covers all tools that read files, `Edit` all that write. */
const coversCall = (tool: string, { request }: AnalysedCall) => {
  if (coversTool(tool, request.tool)) return true;
  if (!touchesFile(request)) return false;
  return tool === (request.subject.action === 'read' ? 'Read' : 'Edit');
};

/** True if a command names a path of a deny or ask rule, as `cat secrets/key` does for Read(secrets/**). */
const isNamedByCommand = (
  rule: PermissionRule,
  tool: string,
  call: AnalysedCall,
  onPaths: (paths: readonly string[]) => boolean,
) =>
  rule.behavior !== 'allow' &&
  (tool === 'Read' || tool === 'Edit') &&
  call.namedPaths.some(onPaths);

const textMatcher = (
  { behavior }: PermissionRule,
  pattern: string,
  onCommand: () => CommandRule,
): CompiledRule['matches'] => {
  const text = compileTextPattern(pattern.trim());
  const domain = readDomainPattern(pattern);
  return ({ request, command = [], rebuilt = [] }) => {
    const target = request.subject.target.trim();
    if (domain !== undefined && request.subject.action === 'network') {
      return 'matches' in domain && domain.matches(target);
    }
    if (!runsCommand(request)) {
      const isAddress = behavior !== 'allow' && request.subject.action === 'network';
      return (isAddress ? addressSpellings(target) : [target]).some((spelling) =>
        text.matches(spelling),
      );
    }
    const rule = onCommand();
    if (rule.isBroad || rule.isExactly(target)) return true;
    // Several rules together may allow the parts of a command: command-allowance.ts decides that.
    if (behavior === 'allow') return false;
    return (
      text.matches(target) ||
      command.some(({ part }) => rule.catches(part)) ||
      rebuilt.some((part) => rule.catches(part))
    );
  };
};

/** Compiles on first use, because most rules are never matched against a command. */
const lazy = <Value>(make: () => Value): (() => Value) => {
  let value: Value | undefined;
  return () => (value ??= make());
};

const patternProblem = ({ tool, pattern }: ParsedRule): string | undefined => {
  if (pattern === undefined) return undefined;
  const parameter = parameterIn(tool, pattern);
  if (parameter?.value === '') return `the value after "${parameter.name}:" is missing`;
  if (parameter !== undefined) return undefined;
  if (FILE_TOOLS.has(tool)) return pathPatternProblem(pattern);
  // The target of an MCP call is unknown, so such a rule would never match.
  if (isMcpTool(tool) && pattern.trim() !== '*') {
    return `a rule for an MCP tool takes no pattern; write ${tool} or ${tool}(param:value)`;
  }
  const domain = tool === 'WebFetch' ? readDomainPattern(pattern) : undefined;
  return domain !== undefined && 'problem' in domain ? domain.problem : undefined;
};

const FILE_TOOLS = new Set('Read Write Edit MultiEdit NotebookEdit Grep Glob LS'.split(' '));

/** `problem` follows the name of the rule in the sentence. */
const report = (rule: PermissionRule, problem: string): RuleProblem => {
  const line = rule.line === undefined ? '' : `, line ${rule.line},`;
  const origin = `${rule.file ?? `${rule.source} settings`}${line}`;
  const fatal = rule.behavior !== 'allow';
  const effect = fatal ? 'It protects nothing until it is fixed.' : 'It is ignored.';
  const message = `The ${rule.behavior} rule "${rule.text}" in ${origin} ${problem}${problem.endsWith('?') ? '' : '.'} ${effect}`;
  return { rule, message, fatal };
};
