/** Settings of command-line flags other than `--settings`, in the format of a settings file. */
import type { SkeinSettings } from './skein-settings.js';

export interface SettingsFlags {
  /** Value of `--settings`: a file name or JSON. */
  readonly settings?: string;
  /** Rules of `--allowed-tools`. */
  readonly allowedTools?: readonly string[];
  /** Rules of `--disallowed-tools`. */
  readonly disallowedTools?: readonly string[];
  /** Value of `--permission-mode`, not yet checked. */
  readonly permissionMode?: string;
  readonly model?: string;
  readonly fallbackModel?: string;
  readonly addDirs?: readonly string[];
  /** Values of `--store`, `--effort` and `--max-budget-usd`. */
  readonly skein?: Partial<SkeinSettings>;
}

export const flagSettings = (flags: SettingsFlags): object | undefined => {
  const { allowedTools, disallowedTools, permissionMode, addDirs, model, fallbackModel } = flags;
  const permissions = {
    ...(allowedTools && { allow: allowedTools }),
    ...(disallowedTools && { deny: disallowedTools }),
    ...(permissionMode !== undefined && { defaultMode: permissionMode }),
    ...(addDirs && { additionalDirectories: addDirs }),
  };
  return {
    permissions,
    ...(model !== undefined && { model }),
    ...(fallbackModel !== undefined && { fallbackModel }),
    ...(flags.skein && { skein: flags.skein }),
  };
};

/** Splits `Read, Bash(npm run test:*) Edit` at commas and spaces outside of parentheses. */
export const splitRules = (text: string): readonly string[] => {
  const rules: string[] = [];
  let rule = '';
  let depth = 0;
  for (const char of text) {
    if (char === '(') depth++;
    if (char === ')') depth = Math.max(0, depth - 1);
    if (depth === 0 && /[\s,]/.test(char)) {
      if (rule !== '') rules.push(rule);
      rule = '';
    } else rule += char;
  }
  return rule.trim() === '' ? rules : [...rules, rule.trim()];
};
