/**
 * Merges settings layers into effective settings.
 *
 * A single value comes from the strongest layer that has it. Rules and directories add up; env is merged by
 * name. Every value keeps its origin. The managed policy can disable the mode bypassPermissions and the allow
 * rules and hooks of all other layers.
 */
import { join, resolve } from 'node:path';
import {
  PERMISSION_MODES,
  type PermissionMode,
} from '../../protocol/permission/permission-mode.js';
import type { PermissionRule, RuleBehavior } from '../../protocol/permission/permission-rule.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { JsonPath } from '../json/json-places.js';
import type { LayerSource, SettingsLayer } from './settings-layers.js';
import { SKEIN_DEFAULTS, SKEIN_KEYS, type SkeinSettings } from './skein-settings.js';

interface SettingOrigin {
  readonly source: LayerSource | 'default';
  readonly file?: string;
  /** Counts from 1. */
  readonly line?: number;
}

export interface Sourced<T> extends SettingOrigin {
  readonly value: T;
}

/** Hooks as written, not validated. */
export interface SourcedHooks extends Sourced<unknown> {
  /** Takes a path below the key `hooks`. Returns the line, from 1. */
  readonly lineOf: (path: JsonPath) => number | undefined;
}

export interface MergedSettings {
  readonly rules: readonly PermissionRule[];
  readonly mode: Sourced<PermissionMode>;
  /** File that disables the mode bypassPermissions. */
  readonly bypassDisabledBy?: string;
  readonly additionalDirectories: readonly Sourced<string>[];
  readonly env: Readonly<Record<string, Sourced<string>>>;
  readonly model?: Sourced<string>;
  readonly fallbackModel?: Sourced<string>;
  readonly language?: Sourced<string>;
  readonly outputStyle?: Sourced<string>;
  /** Hooks that may run, weakest source first. */
  readonly hooks: readonly SourcedHooks[];
  /** True if only hooks of the managed policy may run, also for hooks outside of the settings. */
  readonly onlyManagedHooks: boolean;
  readonly skein: SkeinSettings;
  readonly skeinOrigins: Readonly<Record<string, SettingOrigin>>;
  readonly others: readonly Sourced<Readonly<Record<string, unknown>>>[];
  readonly warnings: readonly string[];
}

/** Throws UsageError if an invalid mode would leave a less strict mode in force. */
export const mergeSettings = (layers: readonly SettingsLayer[], home: string): MergedSettings => {
  const strongest: Strongest = (path, pick) =>
    layers.flatMap((layer) => sourced(layer, path, pick(layer))).at(-1);
  const fromEachLayer = <T>(
    path: JsonPath,
    pick: (layer: SettingsLayer) => readonly T[],
  ): readonly Sourced<T>[] =>
    layers.flatMap((layer) => pick(layer).flatMap((value) => sourced(layer, path, value)));

  const { skein, skeinOrigins } = mergeSkein(strongest);
  const model = strongest(['model'], ({ values }) => values.model);
  const fallbackModel = strongest(['fallbackModel'], ({ values }) => values.fallbackModel);
  const language = strongest(['language'], ({ values }) => values.language);
  const outputStyle = strongest(['outputStyle'], ({ values }) => values.outputStyle);
  const { rules, warnings } = mergeRules(layers);
  const mode = mergeMode(
    layers,
    strongest(MODE, ({ values }) => values.defaultMode),
  );
  const blocker = layers.find(({ values }) => values.bypassDisabled);
  return {
    rules,
    mode: mode.mode,
    ...(blocker && { bypassDisabledBy: blocker.file ?? blocker.source }),
    additionalDirectories: fromEachLayer(DIRECTORIES, ({ values, base }) =>
      values.additionalDirectories.map((path) => absolute(path, base, home)),
    ),
    env: mergeEnv(layers),
    ...(model && { model }),
    ...(fallbackModel && { fallbackModel }),
    ...(language && { language }),
    ...(outputStyle && { outputStyle }),
    ...mergeHooks(layers),
    skein,
    skeinOrigins,
    others: fromEachLayer([], ({ values }) =>
      Object.keys(values.others).length > 0 ? [values.others] : [],
    ),
    warnings: [...warnings, ...mode.warnings],
  };
};

type Strongest = <T>(
  path: JsonPath,
  pick: (layer: SettingsLayer) => T | undefined,
) => Sourced<T> | undefined;

const MODE = ['permissions', 'defaultMode'];
const DIRECTORIES = ['permissions', 'additionalDirectories'];

const originOf = ({ source, file, lineOf }: SettingsLayer, path: JsonPath): SettingOrigin => {
  const line = path.length === 0 || file === undefined ? undefined : lineOf(path);
  return { source, ...(file !== undefined && { file }), ...(line !== undefined && { line }) };
};

const sourced = <T>(
  layer: SettingsLayer,
  path: JsonPath,
  value: T | undefined,
): readonly Sourced<T>[] => (value === undefined ? [] : [{ value, ...originOf(layer, path) }]);

const BEHAVIORS: readonly RuleBehavior[] = ['deny', 'ask', 'allow'];

/** If only the policy may allow calls, the deny and ask rules of other layers still apply. */
const mergeRules = (layers: readonly SettingsLayer[]) => {
  const rules = layers.flatMap(rulesOf);
  const blocker = layers.find(({ values }) => values.switches.allowManagedPermissionRulesOnly);
  if (blocker === undefined) return { rules, warnings: [] };
  const kept = rules.filter(({ behavior, source }) => behavior !== 'allow' || source === 'policy');
  const left = rules.length - kept.length;
  const warning = `${blocker.file} lets only the managed policy allow calls, so ${left} other allow rules do not apply; ask your administrator.`;
  return { rules: kept, warnings: left === 0 ? [] : [warning] };
};

const rulesOf = ({ source, file, values }: SettingsLayer): readonly PermissionRule[] =>
  // Environment variables cannot set rules.
  source === 'environment'
    ? []
    : BEHAVIORS.flatMap((behavior) =>
        values.rules[behavior].map(({ text, line }) => ({
          behavior,
          text,
          source,
          ...(file !== undefined && { file }),
          ...(file !== undefined && line !== undefined && { line }),
        })),
      );

const LOOSE: readonly string[] = ['acceptEdits', 'bypassPermissions'];

const mergeMode = (
  layers: readonly SettingsLayer[],
  configured: Sourced<PermissionMode> | undefined,
) => {
  const mode = configured ?? { value: 'default' as const, source: 'default' as const };
  // A stronger layer has an invalid mode, which may have been meant as a stricter mode.
  const above = layers.findLast(
    ({ values }) => values.defaultMode !== undefined || values.unreadableMode !== undefined,
  );
  if (above?.values.unreadableMode !== undefined && LOOSE.includes(mode.value)) {
    throw new UsageError(
      `${above.values.unreadableMode} cannot be used, and without it the mode ${mode.value} of ${mode.file ?? mode.source} would apply: write one of ${PERMISSION_MODES.join(', ')}.`,
    );
  }
  const blocker = layers.find(({ values }) => values.bypassDisabled);
  if (mode.value !== 'bypassPermissions' || blocker === undefined) return { mode, warnings: [] };
  const origin = blocker.file ?? blocker.source;
  const warning = `Mode bypassPermissions is disabled by ${origin}; mode default is used.`;
  const fallback = originOf(blocker, ['permissions', 'disableBypassPermissionsMode']);
  return { mode: { value: 'default' as const, ...fallback }, warnings: [warning] };
};

/** Hooks of the managed policy run unless the policy itself disables them. */
const mergeHooks = (
  layers: readonly SettingsLayer[],
): Pick<MergedSettings, 'hooks' | 'onlyManagedHooks'> => {
  const policy = layers.filter(({ source }) => source === 'policy');
  const areDisabledBy = (candidates: readonly SettingsLayer[]) =>
    candidates.findLast(({ values }) => values.disableAllHooks !== undefined)?.values
      .disableAllHooks;
  if (areDisabledBy(policy) === true) return { hooks: [], onlyManagedHooks: true };
  const onlyManagedHooks =
    areDisabledBy(layers) === true ||
    policy.some(({ values }) => values.switches.allowManagedHooksOnly === true);
  const hooks = (onlyManagedHooks ? policy : layers).flatMap((layer) =>
    sourced(layer, ['hooks'], layer.values.hooks).map((hooks) => ({
      ...hooks,
      lineOf: (path: JsonPath) => layer.lineOf(['hooks', ...path]),
    })),
  );
  return { hooks, onlyManagedHooks };
};

const mergeEnv = (layers: readonly SettingsLayer[]): MergedSettings['env'] =>
  Object.fromEntries(
    layers.flatMap((layer) =>
      Object.entries(layer.values.env).map(([name, value]) => [
        name,
        { value, ...originOf(layer, ['env', name]) },
      ]),
    ),
  );

const mergeSkein = (strongest: Strongest) => {
  const skein: Record<string, unknown> = { ...SKEIN_DEFAULTS };
  const skeinOrigins: Record<string, SettingOrigin> = {};
  for (const key of Object.keys(SKEIN_KEYS) as (keyof SkeinSettings)[]) {
    const found = strongest(['skein', key], ({ values }) => values.skein[key]);
    if (found) skein[key] = found.value;
    const { value: _, ...origin } = found ?? { value: undefined, source: 'default' as const };
    skeinOrigins[key] = origin;
  }
  return { skein: skein as unknown as SkeinSettings, skeinOrigins };
};

const absolute = (path: string, base: string, home: string) =>
  path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : resolve(base, path);
