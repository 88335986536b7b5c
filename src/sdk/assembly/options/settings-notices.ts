/** Notices about the settings of a run, shown before it starts. */

import type { LoadedSettings } from '../../../config/settings/load-settings.js';
import { explainIgnored } from '../../../config/trust/restrict-untrusted.js';
import { didYouMean } from '../../../lib/text/did-you-mean.js';
import { ruleProblems } from '../../../policy/rules/compile-rules.js';
import { parseRule } from '../../../policy/rules/parse-rule.js';
import type { PermissionRule } from '../../../protocol/permission/permission-rule.js';
import { UsageError } from '../../../protocol/skein-error.js';

const MAX_RULE_NOTICES = 20;
const MAX_AGENT_NAMES = 10;

/**
 * Returns the notices. Throws UsageError for an unreadable deny or ask rule, because ignoring it would allow
 * calls.
 */
export const settingsNotices = (
  settings: LoadedSettings,
  tools: readonly string[],
  withheld: readonly string[] = [],
): readonly string[] => {
  const { rules, warnings } = settings;
  const ignored = ignoredNotice(settings, withheld);
  const problems = ruleProblems(rules);
  const broken = problems.find(({ fatal }) => fatal);
  if (broken !== undefined) throw new UsageError(broken.message);
  const ruleNotices = [...problems.map(({ message }) => message), ...misspelt(rules, tools)];
  const more = ruleNotices.length - MAX_RULE_NOTICES;
  return [
    ...warnings,
    ...ruleNotices.slice(0, MAX_RULE_NOTICES),
    ...(more > 0 ? [`${more} more rules have similar mistakes.`] : []),
    ...(ignored === undefined ? [] : [ignored]),
  ];
};

/**
 * Returns one sentence about everything in an untrusted workspace that does not apply. `withheld` are its
 * agents that apply only in part.
 */
const ignoredNotice = (
  settings: LoadedSettings,
  withheld: readonly string[],
): string | undefined => {
  const { trust, workspace, ignored } = settings;
  if (trust === 'trusted' || withheld.length === 0) return settings.ignoredNotice;
  const [some, left] = [withheld.slice(0, MAX_AGENT_NAMES), withheld.length - MAX_AGENT_NAMES];
  const names = `${some.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
  const key = `agents' model, permissionMode, hooks and mcpServers (${names})`;
  return explainIgnored(workspace.root, trust, [...ignored, { file: workspace.root, key }]);
};

/**
 * Returns notices about misspelt tool names. Settings may be shared with programs that have more tools, so
 * only a name close to one of Skein's tools counts as misspelt.
 */
const misspelt = (
  rules: readonly PermissionRule[],
  tools: readonly string[],
): readonly string[] => {
  const toolNames = [...tools, ...ELSEWHERE];
  return rules.flatMap((rule) => {
    const reading = parseRule(rule.text);
    if (!reading.ok || toolNames.includes(reading.rule.tool)) return [];
    const meant = didYouMean(reading.rule.tool, tools);
    if (meant === undefined || reading.rule.tool.startsWith('mcp__')) return [];
    const line = rule.line === undefined ? '' : `, line ${rule.line},`;
    const where = `${rule.file ?? `the ${rule.source} settings`}${line}`;
    return [
      `The ${rule.behavior} rule "${rule.text}" in ${where} names an unknown tool: did you mean ${meant}?`,
    ];
  });
};

/** Tool names of other programs that are close to one of Skein's tools by chance. */
const ELSEWHERE: readonly string[] = [
  'Task',
  'Agent',
  'Skill',
  'LS',
  'MultiEdit',
  'NotebookRead',
  'KillShell',
  'PowerShell',
  'TaskStop',
  'TaskOutput',
  'TaskGet',
  'TaskList',
  'TaskCreate',
  'TaskUpdate',
  'BashOutput',
  'TodoWrite',
  'TodoRead',
  'EnterPlanMode',
  'ExitPlanMode',
  'EnterWorktree',
  'ExitWorktree',
];
