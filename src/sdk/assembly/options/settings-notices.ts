/** What a person should hear of the settings of a run before it begins. */

import { nearest } from '../../../config/json/did-you-mean.js';
import type { LoadedSettings } from '../../../config/settings/load-settings.js';
import { explainIgnored } from '../../../config/trust/untrusted-layer.js';
import { parseRule } from '../../../policy/rules/rule-grammar.js';
import { ruleProblems } from '../../../policy/rules/rule-matcher.js';
import { UsageError } from '../../../protocol/errors.js';
import type { PermissionRule } from '../../../protocol/permission/permission.js';

/** More help nobody. */
const MOST = 20;
const MOST_NAMES = 10;

/** A deny or ask rule that cannot be read must not vanish: nothing runs until it is mended. */
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
  const said = [...problems.map(({ message }) => message), ...misspelt(rules, tools)];
  const more = said.length - MOST;
  return [
    ...warnings,
    ...said.slice(0, MOST),
    ...(more > 0 ? [`${more} more rules have such mistakes.`] : []),
    ...(ignored === undefined ? [] : [ignored]),
  ];
};

/** One sentence for all that a workspace asked for and did not get; `withheld` are its agents. */
const ignoredNotice = (
  settings: LoadedSettings,
  withheld: readonly string[],
): string | undefined => {
  const { trust, workspace, ignored } = settings;
  if (trust === 'trusted' || withheld.length === 0) return settings.ignoredNotice;
  const [some, left] = [withheld.slice(0, MOST_NAMES), withheld.length - MOST_NAMES];
  const names = `${some.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
  const key = `agents' model, permissionMode, hooks and mcpServers (${names})`;
  return explainIgnored(workspace.root, trust, [...ignored, { file: workspace.root, key }]);
};

/** Others have more tools than we do, so only a name that is nearly one of ours is a mistake. */
const misspelt = (
  rules: readonly PermissionRule[],
  tools: readonly string[],
): readonly string[] => {
  const known = [...tools, ...ELSEWHERE];
  return rules.flatMap((rule) => {
    const reading = parseRule(rule.text);
    if (!reading.ok || known.includes(reading.rule.tool)) return [];
    const meant = nearest(reading.rule.tool, tools);
    if (meant === undefined || reading.rule.tool.startsWith('mcp__')) return [];
    const line = rule.line === undefined ? '' : `, line ${rule.line},`;
    const place = `${rule.file ?? `the ${rule.source} settings`}${line}`;
    return [
      `The ${rule.behavior} rule "${rule.text}" in ${place} speaks of no tool that is here: did you mean ${meant}?`,
    ];
  });
};

/** Names that rules for other programs have, and that are near one of ours by chance. */
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
