/** A rule that allows, denies or asks about calls, and its origin. */

/** Origins of a rule or a setting, weakest first. `flag`: --settings. `command`: the other arguments. */
export const SETTING_SOURCES = [
  'user',
  'project',
  'local',
  'flag',
  'command',
  'session',
  'policy',
] as const;
export type SettingSource = (typeof SETTING_SOURCES)[number];

export type RuleBehavior = 'allow' | 'deny' | 'ask';

export interface PermissionRule {
  readonly behavior: RuleBehavior;
  /** Original text, such as `Bash(npm run test:*)`. */
  readonly text: string;
  readonly source: SettingSource;
  /** Path of the file with the rule. Left out for rules from flags. */
  readonly file?: string;
  /** Line number in the file, starting at 1. */
  readonly line?: number;
}
