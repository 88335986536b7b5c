/**
 * Reads the values of a settings file, key by key.
 *
 * An invalid value is ignored with a warning. If that would be less safe, it ends the command.
 */
import { z } from 'zod';
import { isRecord } from '../../lib/json/is-record.js';
import {
  PERMISSION_MODES,
  type PermissionMode,
} from '../../protocol/permission/permission-mode.js';
import type { RuleBehavior } from '../../protocol/permission/permission-rule.js';
import type { JsonPath } from '../json/json-places.js';
import type { JsonObject, SettingsDocument } from '../json/settings-document.js';
import {
  FOREIGN_KEYS,
  PERMISSION_KEYS,
  POLICY_SWITCHES,
  type PolicySwitch,
  SETTINGS_KEYS,
  warnUnknownKeys,
} from './settings-keys.js';
import { describeValue, SettingsWarnings } from './settings-warnings.js';
import { type KeyRule, SKEIN_KEYS, type SkeinSettings } from './skein-settings.js';

export interface SettingsValues {
  readonly rules: Readonly<Record<RuleBehavior, readonly RuleText[]>>;
  readonly defaultMode?: PermissionMode;
  /** Name, file and line of an invalid mode, as the subject of a sentence. Undefined if there is none. */
  readonly unreadableMode?: string;
  readonly bypassDisabled: boolean;
  readonly additionalDirectories: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly model?: string;
  readonly fallbackModel?: string;
  /** Language in which the agent answers. */
  readonly language?: string;
  /** Name of an output style. */
  readonly outputStyle?: string;
  /** Hooks as written. hook-settings.ts validates them. */
  readonly hooks?: unknown;
  /** True to run no hooks. Undefined if the file does not set it. */
  readonly disableAllHooks?: boolean;
  readonly switches: Readonly<Partial<Record<PolicySwitch, boolean>>>;
  readonly skein: Partial<SkeinSettings>;
  /** Values of keys that Skein does not use. */
  readonly others: JsonObject;
}

interface RuleText {
  readonly text: string;
  readonly line?: number;
}

interface ReadSettings {
  readonly values: SettingsValues;
  /** Sentences for people. */
  readonly warnings: readonly string[];
}

interface ReadSettingsOptions {
  /** True if every invalid value ends the command, because the user has just typed it. Default: false. */
  readonly isStrict?: boolean;
  /** True for the managed policy, whose switches must be valid. Default: false. */
  readonly isPolicy?: boolean;
}

/** Throws UsageError for an invalid value that is not safe to ignore. */
export const readSettings = (
  document: SettingsDocument,
  { isStrict = false, isPolicy = false }: ReadSettingsOptions = {},
): ReadSettings => {
  const { value: raw, lineOf } = document;
  const mistakes = new SettingsWarnings(document, isStrict);
  for (const key of document.repeated) mistakes.repeated(key);
  const readValue = <T>(holder: JsonObject, path: JsonPath, rule: KeyRule, isFatal = false) => {
    const value = valueAt(holder, path);
    if (value === undefined) return undefined;
    const parsed = rule.schema.safeParse(value);
    if (parsed.success) return parsed.data as T;
    mistakes.unusable(path, `write ${rule.expects} instead of ${describeValue(value)}`, isFatal);
    return undefined;
  };
  const section = (key: string, isFatal: boolean) =>
    readValue<JsonObject>(raw, [key], OBJECT, isFatal) ?? {};
  const texts = (holder: JsonObject, path: JsonPath, isFatal: boolean): readonly RuleText[] =>
    (readValue<unknown[]>(holder, path, LIST, isFatal) ?? []).flatMap((value, index) => {
      const at = [...path, index];
      const line = lineOf(at);
      if (typeof value === 'string') return [{ text: value, ...(line !== undefined && { line }) }];
      mistakes.unusable(at, `write a text instead of ${describeValue(value)}`, isFatal);
      return [];
    });

  const permissions = section('permissions', true);
  const rules = (behavior: RuleBehavior) =>
    texts(permissions, ['permissions', behavior], behavior !== 'allow');
  const skein = section('skein', false);
  const skeinValues: Record<string, unknown> = {};
  for (const [key, rule] of Object.entries(SKEIN_KEYS)) {
    // An ignored budget would let a run spend without limit.
    const value = readValue(skein, ['skein', key], rule, BUDGET_KEYS.has(key));
    if (value !== undefined) skeinValues[key] = value;
  }
  const modePath = ['permissions', 'defaultMode'];
  const defaultMode = readValue<PermissionMode>(permissions, modePath, MODE, isPolicy);
  const hasMode = valueAt(permissions, modePath) !== undefined;
  const disabled = readValue(permissions, ['permissions', BYPASS], DISABLE, true);
  const switches = POLICY_SWITCHES.map((key) => {
    const value = readValue<boolean>(raw, [key], SWITCH, isPolicy);
    if (value === true && !isPolicy) {
      mistakes.unusable([key], 'it has an effect only in the managed policy; remove it');
    }
    return [key, value === true && isPolicy] as const;
  });
  const disableAllHooks = readValue<boolean>(raw, ['disableAllHooks'], SWITCH);
  const model = readValue<string>(raw, ['model'], TEXT);
  const fallbackModel = readValue<string>(raw, ['fallbackModel'], TEXT);
  const language = readValue<string>(raw, ['language'], PROMPT_LINE);
  const outputStyle = readValue<string>(raw, ['outputStyle'], PROMPT_LINE);
  const values: SettingsValues = {
    rules: { allow: rules('allow'), deny: rules('deny'), ask: rules('ask') },
    ...(defaultMode && { defaultMode }),
    ...(hasMode && !defaultMode && { unreadableMode: mistakes.about(modePath) }),
    bypassDisabled: disabled !== undefined,
    additionalDirectories: texts(permissions, ['permissions', 'additionalDirectories'], false).map(
      ({ text }) => text,
    ),
    env: readEnv(section('env', false), mistakes),
    ...(model && { model }),
    ...(fallbackModel && { fallbackModel }),
    ...(language && { language }),
    ...(outputStyle && { outputStyle }),
    ...(Object.hasOwn(raw, 'hooks') && { hooks: raw.hooks }),
    ...(disableAllHooks !== undefined && { disableAllHooks }),
    switches: Object.fromEntries(switches),
    skein: skeinValues as Partial<SkeinSettings>,
    others: Object.fromEntries(Object.entries(raw).filter(([key]) => !SETTINGS_KEYS.includes(key))),
  };
  warnUnknownKeys(mistakes, permissions, ['permissions'], PERMISSION_KEYS);
  warnUnknownKeys(mistakes, skein, ['skein'], Object.keys(SKEIN_KEYS));
  warnUnknownKeys(mistakes, raw, [], SETTINGS_KEYS, FOREIGN_KEYS);
  return { values, warnings: mistakes.warnings };
};

const valueAt = (holder: JsonObject, path: JsonPath): unknown => {
  const key = String(path.at(-1));
  return Object.hasOwn(holder, key) ? holder[key] : undefined;
};

const BYPASS = 'disableBypassPermissionsMode';

const BUDGET_KEYS: ReadonlySet<string> = new Set(['maxBudgetUsd', 'maxBudgetTokens']);

const OBJECT: KeyRule = { schema: z.custom<JsonObject>(isRecord), expects: 'an object' };
const LIST: KeyRule = { schema: z.array(z.unknown()), expects: 'a list of texts' };
const TEXT: KeyRule = { schema: z.string().min(1), expects: 'a text' };
const SWITCH: KeyRule = { schema: z.boolean(), expects: 'true or false' };
/** A line of text for the prompt. */
const PROMPT_LINE: KeyRule = {
  schema: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .regex(/^\P{Cc}+$/u),
  expects: 'a text of at most 100 characters in one line',
};
const DISABLE: KeyRule = { schema: z.literal('disable'), expects: 'the text "disable"' };
const MODE: KeyRule = {
  schema: z.enum(PERMISSION_MODES),
  expects: `one of ${PERMISSION_MODES.join(', ')}`,
};

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Never quotes the values in warnings, because they may be secrets. */
const readEnv = (env: JsonObject, mistakes: SettingsWarnings) => {
  const good = Object.entries(env).filter(([name, value]) => {
    const fix = envFix(name, value);
    if (fix !== undefined) mistakes.unusable(['env', name], fix);
    return fix === undefined;
  });
  return Object.fromEntries(good) as Record<string, string>;
};

const envFix = (name: string, value: unknown): string | undefined => {
  if (!ENV_NAME.test(name)) return 'use only letters, digits and _ in its name, and no digit first';
  if (typeof value !== 'string') return 'put its value between double quotes';
  return value.includes('\0') ? 'remove the character \\u0000 from its value' : undefined;
};
