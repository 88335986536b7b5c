/** Notices about the settings of a run, shown before it starts. */

import type { LoadedSettings } from '../../../config/settings/load-settings.js';
import { explainIgnored } from '../../../config/trust/restrict-untrusted.js';
import { ruleProblems } from '../../../policy/rules/compile-rules.js';
import type { KnownTools } from '../../../policy/rules/never-matches.js';
import { UsageError } from '../../../protocol/skein-error.js';

const MAX_RULE_NOTICES = 20;
const MAX_AGENT_NAMES = 10;

/**
 * Returns the notices. Throws UsageError for a deny or ask rule that cannot be read or can never match, because
 * ignoring it would allow calls.
 */
export const settingsNotices = (
  settings: LoadedSettings,
  tools: KnownTools,
  withheld: readonly string[] = [],
): readonly string[] => {
  const { rules, warnings } = settings;
  const ignored = ignoredNotice(settings, withheld);
  const problems = ruleProblems(rules, tools);
  const broken = problems.find(({ fatal }) => fatal);
  if (broken !== undefined) throw new UsageError(broken.message);
  const ruleNotices = problems.map(({ message }) => message);
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
