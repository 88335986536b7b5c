/** Compiles permission rules into matchers, and reports the rules that cannot be parsed. */
import type { PermissionRule } from '../../protocol/permission/permission-rule.js';
import type { AnalysedCall } from '../analysed-call.js';
import type { PathEnvironment } from '../paths/resolved-paths.js';
import type { ShellPart } from '../shell/shell-part.js';
import { type CommandRule, compileCommandRule } from './command-rule.js';
import { readDomainPattern } from './domain-pattern.js';
import { coversTool, isMcpTool, type ParsedRule, parseRule } from './parse-rule.js';
import { compilePathPattern, pathPatternProblem } from './path-pattern.js';
import { runsCommand, touchesFile } from './rule-subject.js';
import { compileTextPattern } from './text-pattern.js';

export interface CompiledRule {
  readonly rule: PermissionRule;
  /** True if the rule has a pattern other than `*`. */
  readonly isNarrow: boolean;
  matches(call: AnalysedCall): boolean;
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

export const compileRules = (
  rules: readonly PermissionRule[],
  root: string,
  environment: PathEnvironment,
): CompiledRules => {
  const compiled: CompiledRule[] = [];
  const problems: RuleProblem[] = [];
  for (const rule of rules) {
    const reading = parseRule(rule.text);
    const problem = reading.ok ? patternProblem(reading.rule) : reading.problem;
    if (problem !== undefined) problems.push(report(rule, problem));
    else if (reading.ok) {
      const { pattern = '*' } = reading.rule;
      const isNarrow = !/^[*:\s]*$/.test(pattern);
      compiled.push({ rule, isNarrow, ...matcher(rule, reading.rule, root, environment) });
    }
  }
  return { rules: compiled, problems };
};

/** Checks rules without building a policy. */
export const ruleProblems = (rules: readonly PermissionRule[]): readonly RuleProblem[] =>
  compileRules(rules, '/', { home: '/', realPath: (path) => path, ignoreCase: false }).problems;

type Matcher = Pick<CompiledRule, 'matches' | 'allowsPart' | 'allowsPaths'>;

const matcher = (
  rule: PermissionRule,
  parsed: ParsedRule,
  root: string,
  environment: PathEnvironment,
): Matcher => {
  const { tool, pattern } = parsed;
  const covers = (call: AnalysedCall) => coversCall(tool, call);
  const coversRedirect = (isWrite: boolean) =>
    tool === '*' || tool === (isWrite ? 'Edit' : 'Read') || (isWrite && tool === 'Write');
  if (pattern === undefined) {
    const allowsPaths = (_: readonly string[], isWrite: boolean) => coversRedirect(isWrite);
    return { matches: covers, allowsPart: () => tool === '*', allowsPaths };
  }
  const { home, ignoreCase, toParentPath } = environment;
  const onPath = compilePathPattern(pattern, { home, root, file: rule.file, ignoreCase });
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
      if (!covers(call)) return isNamedByCommand(rule, tool, call, onPaths);
      return touchesFile(call.request) ? onPaths(call.paths) : onText(call);
    },
    allowsPart: (part) => coversTool(tool, 'Bash') && onCommand().allows(part),
    allowsPaths: (paths, isWrite) => coversRedirect(isWrite) && paths.every(hits),
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
  return ({ request, command = [] }) => {
    const target = request.subject.target.trim();
    if (domain !== undefined && request.subject.action === 'network') {
      return 'matches' in domain && domain.matches(target);
    }
    if (!runsCommand(request)) return text.matches(target);
    const rule = onCommand();
    if (rule.isBroad || rule.isExactly(target)) return true;
    // Several rules together may allow the parts of a command: command-allowance.ts decides that.
    if (behavior === 'allow') return false;
    return text.matches(target) || command.some(({ part }) => rule.catches(part));
  };
};

/** Compiles on first use, because most rules are never matched against a command. */
const lazy = <Value>(make: () => Value): (() => Value) => {
  let value: Value | undefined;
  return () => (value ??= make());
};

const patternProblem = ({ tool, pattern }: ParsedRule): string | undefined => {
  if (pattern === undefined) return undefined;
  if (FILE_TOOLS.has(tool)) return pathPatternProblem(pattern);
  // The target of an MCP call is unknown, so such a rule would never match.
  if (isMcpTool(tool) && pattern.trim() !== '*') {
    return `a rule for an MCP tool takes no pattern; write ${tool}`;
  }
  const key = INPUT_KEY.exec(pattern)?.[1];
  if (key !== undefined) return `rules about the input field "${key}" are not supported`;
  const domain = tool === 'WebFetch' ? readDomainPattern(pattern) : undefined;
  return domain !== undefined && 'problem' in domain ? domain.problem : undefined;
};

/** Rules about an input field, which other programs support. No command or URL begins like this. */
const INPUT_KEY = /^(run_in_background|subagent_type|team_name|max_turns):/;

const FILE_TOOLS = new Set('Read Write Edit MultiEdit NotebookEdit Grep Glob LS'.split(' '));

const report = (rule: PermissionRule, problem: string): RuleProblem => {
  const line = rule.line === undefined ? '' : `, line ${rule.line},`;
  const origin = `${rule.file ?? `${rule.source} settings`}${line}`;
  const fatal = rule.behavior !== 'allow';
  const effect = fatal ? 'It protects nothing until it is fixed.' : 'It is ignored.';
  const message = `The ${rule.behavior} rule "${rule.text}" in ${origin} cannot be read: ${problem}. ${effect}`;
  return { rule, message, fatal };
};
