/**
 * What a settings file may say, read key by key: a bad value costs that key and a warning, unless
 * ignoring it would make things less safe. Then it ends the command.
 */
import { z } from 'zod';
import { UsageError } from '../protocol/errors.js';
import {
  PERMISSION_MODES,
  type PermissionMode,
  type RuleBehavior,
} from '../protocol/permission.js';
import { isObject, type JsonObject } from './settings-file.js';
import { isSkeinKey, type KeyRule, SKEIN_KEYS, type SkeinSettings } from './skein-settings.js';

export interface SettingsValues {
  readonly rules: Readonly<Record<RuleBehavior, readonly string[]>>;
  readonly defaultMode?: PermissionMode;
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
  readonly skein: Partial<SkeinSettings>;
  /** Keys that Skein does not use, kept as they are. */
  readonly others: JsonObject;
}

export interface SettingsReading {
  readonly values: SettingsValues;
  /** One sentence each. */
  readonly warnings: readonly string[];
}

/**
 * `place` names the file or the flag in messages. Throws a UsageError where safety is at stake, and
 * when `strict` for every bad value: somebody typed it just now.
 */
export const readSettings = (raw: JsonObject, place: string, strict = false): SettingsReading => {
  const warnings: string[] = [];
  const take = <T>(
    holder: JsonObject,
    prefix: string,
    key: string,
    rule: KeyRule,
    fatal = false,
  ) => {
    if (!Object.hasOwn(holder, key) || holder[key] === undefined) return undefined;
    const parsed = rule.schema.safeParse(holder[key]);
    if (parsed.success) return parsed.data as T;
    const what = `${prefix}${key} in ${place}`;
    const found = `expected ${rule.expects}, found ${describe(holder[key])}`;
    if (fatal || strict)
      throw new UsageError(`${what} cannot be used: ${found}. Fix it or remove it.`);
    warnings.push(`${what} is ignored: ${found}.`);
    return undefined;
  };
  const section = (key: string, fatal: boolean) =>
    take<JsonObject>(raw, '', key, { schema: OBJECT, expects: 'an object' }, fatal) ?? {};

  const permissions = section('permissions', true);
  const list = (key: string, fatal: boolean) =>
    take<string[]>(permissions, 'permissions.', key, TEXTS, fatal) ?? [];
  const skein = section('skein', false);
  const ours: Record<string, unknown> = {};
  for (const [key, rule] of Object.entries(SKEIN_KEYS)) {
    // Without its ceiling a run could spend without end.
    const value = take(skein, 'skein.', key, rule, key === 'maxBudgetUsd');
    if (value !== undefined) ours[key] = value;
  }
  const defaultMode = take<PermissionMode>(permissions, 'permissions.', 'defaultMode', MODE);
  const model = take<string>(raw, '', 'model', TEXT);
  const fallbackModel = take<string>(raw, '', 'fallbackModel', TEXT);
  const language = take<string>(raw, '', 'language', WORDS);
  const outputStyle = take<string>(raw, '', 'outputStyle', WORDS);
  warnings.push(
    ...warnUnknown(permissions, 'permissions.', place, (key) => PERMISSION_KEYS.has(key)),
    ...warnUnknown(skein, 'skein.', place, isSkeinKey),
    ...warnUnknown(raw, '', place, (key) => OWN_KEYS.has(key) || FOREIGN_KEYS.has(key)),
  );
  return {
    warnings,
    values: {
      rules: { allow: list('allow', false), deny: list('deny', true), ask: list('ask', true) },
      ...(defaultMode && { defaultMode }),
      bypassDisabled: permissions.disableBypassPermissionsMode === 'disable',
      additionalDirectories: list('additionalDirectories', false),
      env: takeEnv(section('env', false), place, warnings),
      ...(model && { model }),
      ...(fallbackModel && { fallbackModel }),
      ...(language && { language }),
      ...(outputStyle && { outputStyle }),
      ...(Object.hasOwn(raw, 'hooks') && { hooks: raw.hooks }),
      skein: ours as Partial<SkeinSettings>,
      others: Object.fromEntries(Object.entries(raw).filter(([key]) => !OWN_KEYS.has(key))),
    },
  };
};

/** A value for a sentence: short, and without what a list or an object holds. */
export const describe = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return 'something else';
  return `the text "${value.length > 60 ? `${value.slice(0, 60)}…` : value}"`;
};

const OBJECT = z.custom<JsonObject>(isObject);
const TEXT: KeyRule = { schema: z.string().min(1), expects: 'a text' };
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
const TEXTS: KeyRule = { schema: z.array(z.string()), expects: 'a list of texts' };
const MODE: KeyRule = {
  schema: z.enum(PERMISSION_MODES),
  expects: `one of ${PERMISSION_MODES.join(', ')}`,
};

const OWN_KEYS = new Set([
  ...['permissions', 'env', 'model', 'fallbackModel', 'language', 'outputStyle', 'hooks', 'skein'],
]);
const PERMISSION_KEYS = new Set([
  ...['allow', 'deny', 'ask', 'defaultMode', 'additionalDirectories'],
  'disableBypassPermissionsMode',
]);
/** Known in the ecosystem and no concern of ours: kept without a word. */
const FOREIGN_KEYS = new Set([
  ...['$schema', 'apiKeyHelper', 'cleanupPeriodDays', 'includeCoAuthoredBy', 'attribution'],
  ...['statusLine', 'theme', 'enabledPlugins', 'extraKnownMarketplaces'],
  ...['enableAllProjectMcpServers', 'enabledMcpjsonServers', 'disabledMcpjsonServers'],
  ...['disableAllHooks', 'sandbox', 'spinnerTipsEnabled', 'alwaysThinkingEnabled'],
]);

const warnUnknown = (
  holder: JsonObject,
  prefix: string,
  place: string,
  isKnown: (key: string) => boolean,
) => {
  const keys = Object.keys(holder).filter((key) => !isKnown(key));
  if (keys.length === 0) return [];
  const names = keys.map((key) => prefix + key).join(', ');
  return [`${place} has keys that Skein does not know and does not use: ${names}.`];
};

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Values are never quoted in warnings: they may be secrets. */
const takeEnv = (env: JsonObject, place: string, warnings: string[]) => {
  const good = Object.entries(env).filter(([name, value]) => {
    const usable = ENV_NAME.test(name) && typeof value === 'string' && !value.includes('\0');
    if (!usable) warnings.push(`env.${name} in ${place} is ignored: expected a name and a text.`);
    return usable;
  });
  return Object.fromEntries(good) as Record<string, string>;
};
