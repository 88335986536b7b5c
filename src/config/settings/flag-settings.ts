/** Settings from the arguments of a command but for `--settings`, in the form of a settings file. */
import type { SkeinSettings } from './skein-settings.js';

export interface SettingsFlags {
  /** `--settings`: a file or JSON. */
  readonly settings?: string;
  /** `--allowed-tools` and `--disallowed-tools`, already split into rules. */
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  /** `--permission-mode`; the settings schema checks it. */
  readonly permissionMode?: string;
  readonly model?: string;
  readonly fallbackModel?: string;
  readonly addDirs?: readonly string[];
  /** `--store`, `--effort`, `--max-budget-usd`. */
  readonly skein?: Partial<SkeinSettings>;
}

export const flagValues = (flags: SettingsFlags): object | undefined => {
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

/** `"Read, Bash(npm run test:*) Edit"`: rules apart by commas or spaces outside parentheses. */
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
