/**
 * What a settings file may say, read key by key: a bad value costs that key and a warning, unless
 * ignoring it would make things less safe. Then it ends the command.
 */
import { z } from 'zod';
import {
  PERMISSION_MODES,
  type PermissionMode,
  type RuleBehavior,
} from '../../protocol/permission/permission.js';
import type { JsonPath } from '../json/json-places.js';
import { isObject, type JsonObject, type SettingsDocument } from './settings-file.js';
import {
  FOREIGN_KEYS,
  OWN_KEYS,
  PERMISSION_KEYS,
  POLICY_SWITCHES,
  type PolicySwitch,
  warnUnknown,
} from './settings-keys.js';
import { describe, SettingsWarnings } from './settings-warnings.js';
import { type KeyRule, SKEIN_KEYS, type SkeinSettings } from './skein-settings.js';

export interface SettingsValues {
  readonly rules: Readonly<Record<RuleBehavior, readonly RuleText[]>>;
  readonly defaultMode?: PermissionMode;
  /** There is a mode that is none: its name, file and line, to begin a sentence with. */
  readonly unreadableMode?: string;
  readonly bypassDisabled: boolean;
  readonly additionalDirectories: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly model?: string;
  readonly fallbackModel?: string;
  /** What the agent is to speak. */
  readonly language?: string;
  /** The name of a file; output-style.ts finds it. */
  readonly outputStyle?: string;
  /** Kept as it is; whoever runs hooks validates them. */
  readonly hooks?: unknown;
  /** Whether any hook runs; undefined when it does not say. */
  readonly disableAllHooks?: boolean;
  /** Switches that only the managed policy has. */
  readonly switches: Readonly<Partial<Record<PolicySwitch, boolean>>>;
  readonly skein: Partial<SkeinSettings>;
  /** Keys that Skein does not use, kept as they are. */
  readonly others: JsonObject;
}

export interface RuleText {
  readonly text: string;
  readonly line?: number;
}

export interface SettingsReading {
  readonly values: SettingsValues;
  /** One sentence each. */
  readonly warnings: readonly string[];
}

export interface ReadingTerms {
  /** Every bad value ends the command: somebody typed it just now. */
  readonly isStrict?: boolean;
  /** Of the administrator: what it does not say others may. */
  readonly isPolicy?: boolean;
}

/** Throws a UsageError where safety is at stake. */
export const readSettings = (
  document: SettingsDocument,
  { isStrict = false, isPolicy = false }: ReadingTerms = {},
): SettingsReading => {
  const { value: raw, lineOf } = document;
  const complaints = new SettingsWarnings(document, isStrict);
  for (const key of document.repeated) complaints.repeated(key);
  const take = <T>(holder: JsonObject, path: JsonPath, rule: KeyRule, isFatal = false) => {
    const value = valueAt(holder, path);
    if (value === undefined) return undefined;
    const parsed = rule.schema.safeParse(value);
    if (parsed.success) return parsed.data as T;
    complaints.unusable(path, `write ${rule.expects} instead of ${describe(value)}`, isFatal);
    return undefined;
  };
  const section = (key: string, isFatal: boolean) =>
    take<JsonObject>(raw, [key], OBJECT, isFatal) ?? {};
  const texts = (holder: JsonObject, path: JsonPath, isFatal: boolean): readonly RuleText[] =>
    (take<unknown[]>(holder, path, LIST, isFatal) ?? []).flatMap((value, index) => {
      const at = [...path, index];
      const line = lineOf(at);
      if (typeof value === 'string') return [{ text: value, ...(line !== undefined && { line }) }];
      complaints.unusable(at, `write a text instead of ${describe(value)}`, isFatal);
      return [];
    });

  const permissions = section('permissions', true);
  const rules = (behavior: RuleBehavior) =>
    texts(permissions, ['permissions', behavior], behavior !== 'allow');
  const skein = section('skein', false);
  const ours: Record<string, unknown> = {};
  for (const [key, rule] of Object.entries(SKEIN_KEYS)) {
    // Without its ceiling a run could spend without end.
    const value = take(skein, ['skein', key], rule, CEILINGS.has(key));
    if (value !== undefined) ours[key] = value;
  }
  const modeAt = ['permissions', 'defaultMode'];
  const defaultMode = take<PermissionMode>(permissions, modeAt, MODE, isPolicy);
  const hasMode = valueAt(permissions, modeAt) !== undefined;
  const disabled = take(permissions, ['permissions', BYPASS], DISABLE, true);
  const switches = POLICY_SWITCHES.map((key) => {
    const value = take<boolean>(raw, [key], SWITCH, isPolicy);
    if (value === true && !isPolicy) {
      complaints.unusable([key], 'it works only in the managed policy; remove it');
    }
    return [key, value === true && isPolicy] as const;
  });
  const disableAllHooks = take<boolean>(raw, ['disableAllHooks'], SWITCH);
  const model = take<string>(raw, ['model'], TEXT);
  const fallbackModel = take<string>(raw, ['fallbackModel'], TEXT);
  const language = take<string>(raw, ['language'], WORDS);
  const outputStyle = take<string>(raw, ['outputStyle'], WORDS);
  const values: SettingsValues = {
    rules: { allow: rules('allow'), deny: rules('deny'), ask: rules('ask') },
    ...(defaultMode && { defaultMode }),
    ...(hasMode && !defaultMode && { unreadableMode: complaints.about(modeAt) }),
    bypassDisabled: disabled !== undefined,
    additionalDirectories: texts(permissions, ['permissions', 'additionalDirectories'], false).map(
      ({ text }) => text,
    ),
    env: takeEnv(section('env', false), complaints),
    ...(model && { model }),
    ...(fallbackModel && { fallbackModel }),
    ...(language && { language }),
    ...(outputStyle && { outputStyle }),
    ...(Object.hasOwn(raw, 'hooks') && { hooks: raw.hooks }),
    ...(disableAllHooks !== undefined && { disableAllHooks }),
    switches: Object.fromEntries(switches),
    skein: ours as Partial<SkeinSettings>,
    others: Object.fromEntries(Object.entries(raw).filter(([key]) => !OWN_KEYS.includes(key))),
  };
  warnUnknown(complaints, permissions, ['permissions'], PERMISSION_KEYS);
  warnUnknown(complaints, skein, ['skein'], Object.keys(SKEIN_KEYS));
  warnUnknown(complaints, raw, [], OWN_KEYS, FOREIGN_KEYS);
  return { values, warnings: complaints.warnings };
};

const valueAt = (holder: JsonObject, path: JsonPath): unknown => {
  const key = String(path.at(-1));
  return Object.hasOwn(holder, key) ? holder[key] : undefined;
};

const BYPASS = 'disableBypassPermissionsMode';

const CEILINGS: ReadonlySet<string> = new Set(['maxBudgetUsd', 'maxBudgetTokens']);

const OBJECT: KeyRule = { schema: z.custom<JsonObject>(isObject), expects: 'an object' };
const LIST: KeyRule = { schema: z.array(z.unknown()), expects: 'a list of texts' };
const TEXT: KeyRule = { schema: z.string().min(1), expects: 'a text' };
const SWITCH: KeyRule = { schema: z.boolean(), expects: 'true or false' };
/** These become part of a prompt, in a line of their own words. */
const WORDS: KeyRule = {
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

/** Values are never quoted in complaints: they may be secrets. */
const takeEnv = (env: JsonObject, complaints: SettingsWarnings) => {
  const good = Object.entries(env).filter(([name, value]) => {
    const fix = envFix(name, value);
    if (fix !== undefined) complaints.unusable(['env', name], fix);
    return fix === undefined;
  });
  return Object.fromEntries(good) as Record<string, string>;
};

const envFix = (name: string, value: unknown): string | undefined => {
  if (!ENV_NAME.test(name)) return 'name it with letters, digits and _ only, no digit first';
  if (typeof value !== 'string') return 'put its value between double quotes';
  return value.includes('\0') ? 'remove the character \\u0000 from its value' : undefined;
};
