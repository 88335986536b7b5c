/** Notices about the settings of a run, shown before it starts. */

import type { AgentCatalog } from '../../../config/agents/agent-catalog.js';
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
  withheld: AgentCatalog['withheld'] = [],
): readonly string[] => {
  const { rules, warnings } = settings;
  const ignored =
    withheld.length === 0
      ? settings.ignoredNotice
      : untrustedNotice(settings, settings.ignored, withheld);
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
 * Returns one sentence about everything in an untrusted workspace that does not apply and would apply if it were
 * trusted. `withheld` are the workspace's agents that apply only in part.
 */
export const untrustedNotice = (
  { trust, workspace }: Pick<LoadedSettings, 'trust' | 'workspace'>,
  ignored: LoadedSettings['ignored'],
  withheld: AgentCatalog['withheld'],
): string | undefined => {
  if (trust === 'trusted') return undefined;
  const names = withheld.map(({ agent }) => agent);
  const left = names.length - MAX_AGENT_NAMES;
  const shown = `${names.slice(0, MAX_AGENT_NAMES).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
  const fields = [...new Set(withheld.flatMap((agent) => agent.fields))];
  const key = `agents' ${listed(fields)} (${shown})`;
  const ofAgents = withheld.length === 0 ? [] : [{ file: workspace.root, key }];
  return explainIgnored(workspace.root, trust, [...ignored, ...ofAgents]);
};

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
