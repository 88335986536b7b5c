/** Turns written rules into matchers, and names the rules that cannot be read. */
import type { PermissionRule } from '../../protocol/permission/permission.js';
import { type AnalysedCall, runsCommand, touchesFile } from '../analysed-call.js';
import type { PathWorld } from '../paths/path-policy.js';
import type { ShellPart } from '../shell/shell-part.js';
import { compileTextPattern } from './command-pattern.js';
import { type CommandRule, compileCommandRule } from './command-rule.js';
import { readDomain } from './domain-pattern.js';
import { compilePathPattern, pathPatternProblem } from './path-pattern.js';
import { coversTool, isMcpTool, type ParsedRule, parseRule } from './rule-grammar.js';

export interface CompiledRule {
  readonly rule: PermissionRule;
  /** It has a pattern that is more than a star. */
  readonly isNarrow: boolean;
  matches(call: AnalysedCall): boolean;
  /** An allow rule speaks of this part of a command line. */
  allowsPart(part: ShellPart): boolean;
  /** An allow rule lets this place be read or written by a redirection. */
  allowsPlaces(places: readonly string[], writes: boolean): boolean;
}

export interface RuleProblem {
  readonly rule: PermissionRule;
  /** One sentence that names the rule, the file and the fix. */
  readonly message: string;
  /** A deny or ask rule that cannot be read protects nothing: do not go on without telling. */
  readonly fatal: boolean;
}

export interface Rulebook {
  readonly rules: readonly CompiledRule[];
  readonly problems: readonly RuleProblem[];
}

export const compileRules = (
  rules: readonly PermissionRule[],
  root: string,
  world: PathWorld,
): Rulebook => {
  const compiled: CompiledRule[] = [];
  const problems: RuleProblem[] = [];
  for (const rule of rules) {
    const reading = parseRule(rule.text);
    const trouble = reading.ok ? patternProblem(reading.rule) : reading.problem;
    if (trouble !== undefined) problems.push(report(rule, trouble));
    else if (reading.ok) {
      const { pattern = '*' } = reading.rule;
      const isNarrow = !/^[*:\s]*$/.test(pattern);
      compiled.push({ rule, isNarrow, ...matcher(rule, reading.rule, root, world) });
    }
  }
  return { rules: compiled, problems };
};

/** What is wrong with these rules, without building a policy. */
export const ruleProblems = (rules: readonly PermissionRule[]): readonly RuleProblem[] =>
  compileRules(rules, '/', { home: '/', realPath: (path) => path, ignoreCase: false }).problems;

type Matcher = Pick<CompiledRule, 'matches' | 'allowsPart' | 'allowsPlaces'>;

const matcher = (
  rule: PermissionRule,
  parsed: ParsedRule,
  root: string,
  world: PathWorld,
): Matcher => {
  const { tool, pattern } = parsed;
  const covers = (call: AnalysedCall) => coversCall(tool, call);
  const isFor = (writes: boolean) =>
    tool === '*' || tool === (writes ? 'Edit' : 'Read') || (writes && tool === 'Write');
  if (pattern === undefined) {
    const allowsPlaces = (_: readonly string[], writes: boolean) => isFor(writes);
    return { matches: covers, allowsPart: () => tool === '*', allowsPlaces };
  }
  const { home, ignoreCase } = world;
  const onPath = compilePathPattern(pattern, { home, root, file: rule.file, ignoreCase });
  const bases = [...new Set([onPath.base, world.realPath(onPath.base)])];
  const isHit = (place: string) => bases.some((base) => onPath.matches(place, base));
  const { homeOf } = world;
  const hits =
    homeOf === undefined ? isHit : (place: string) => isHit(place) || isHit(homeOf(place));
  const onCommand = once(() => compileCommandRule(pattern.trim()));
  const onText = textMatcher(rule, pattern, onCommand);
  // To forbid, one name of a file is enough; to allow, every name of it must be covered.
  const onPlaces =
    rule.behavior === 'allow'
      ? (places: readonly string[]) => places.every(hits)
      : (places: readonly string[]) => places.some(hits);
  return {
    matches(call) {
      if (!covers(call)) return namedByCommand(rule, tool, call, onPlaces);
      return touchesFile(call.request) ? onPlaces(call.places) : onText(call);
    },
    allowsPart: (part) => coversTool(tool, 'Bash') && onCommand().allows(part),
    allowsPlaces: (places, writes) => isFor(writes) && places.every(hits),
  };
};

/** A rule for Read speaks of every tool that reads files, one for Edit of every one that writes. */
const coversCall = (tool: string, { request }: AnalysedCall) => {
  if (coversTool(tool, request.tool)) return true;
  if (!touchesFile(request)) return false;
  return tool === (request.subject.action === 'read' ? 'Read' : 'Edit');
};

/** `cat secrets/key` does what a deny rule for Read(secrets/**) forbids. */
const namedByCommand = (
  rule: PermissionRule,
  tool: string,
  call: AnalysedCall,
  onPlaces: (places: readonly string[]) => boolean,
) => rule.behavior !== 'allow' && (tool === 'Read' || tool === 'Edit') && call.named.some(onPlaces);

const textMatcher = (
  { behavior }: PermissionRule,
  pattern: string,
  onCommand: () => CommandRule,
): CompiledRule['matches'] => {
  const text = compileTextPattern(pattern.trim());
  const domain = readDomain(pattern);
  return ({ request, command = [] }) => {
    const target = request.subject.target.trim();
    if (domain !== undefined && request.subject.action === 'network') {
      return 'matches' in domain && domain.matches(target);
    }
    if (!runsCommand(request)) return text.matches(target);
    const rule = onCommand();
    if (rule.isBroad || rule.isExactly(target)) return true;
    // Whether the parts of a command are all allowed takes more than one rule: see command-leave.ts.
    if (behavior === 'allow') return false;
    return text.matches(target) || command.some(({ part }) => rule.catches(part));
  };
};

/** Most rules never meet a command. */
const once = <Value>(make: () => Value): (() => Value) => {
  let made: Value | undefined;
  return () => (made ??= make());
};

const patternProblem = ({ tool, pattern }: ParsedRule): string | undefined => {
  if (pattern === undefined) return undefined;
  if (FILE_TOOLS.has(tool)) return pathPatternProblem(pattern);
  // What a server's tool is about nobody knows, so such a rule would never match.
  if (isMcpTool(tool) && pattern.trim() !== '*') {
    return `a rule for an MCP tool takes no pattern; write ${tool}`;
  }
  const key = INPUT_KEY.exec(pattern)?.[1];
  if (key !== undefined) return `rules about the input "${key}" are not known here`;
  const domain = tool === 'WebFetch' ? readDomain(pattern) : undefined;
  return domain !== undefined && 'problem' in domain ? domain.problem : undefined;
};

/** No command and no address begins like this; elsewhere it is a rule about a part of the input. */
const INPUT_KEY = /^(run_in_background|subagent_type|team_name|max_turns):/;

const FILE_TOOLS = new Set('Read Write Edit MultiEdit NotebookEdit Grep Glob LS'.split(' '));

const report = (rule: PermissionRule, trouble: string): RuleProblem => {
  const line = rule.line === undefined ? '' : `, line ${rule.line},`;
  const place = `${rule.file ?? `${rule.source} settings`}${line}`;
  const fatal = rule.behavior !== 'allow';
  const effect = fatal ? 'It protects nothing until it is fixed.' : 'It is ignored.';
  const message = `The ${rule.behavior} rule "${rule.text}" in ${place} cannot be read: ${trouble}. ${effect}`;
  return { rule, message, fatal };
};
