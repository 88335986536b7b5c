/**
 * Folds layers into effective settings. Single values: the strongest layer that has one. Rules and
 * directories add up; env is merged name by name. Every value keeps its origin. What the managed
 * policy closes nobody opens: the mode bypassPermissions, allow rules and hooks of others.
 */
import { join, resolve } from 'node:path';
import { UsageError } from '../../protocol/errors.js';
import {
  PERMISSION_MODES,
  type PermissionMode,
  type PermissionRule,
  type RuleBehavior,
} from '../../protocol/permission/permission.js';
import type { JsonPath } from '../json/json-places.js';
import type { Layer, LayerSource } from './settings-layers.js';
import { SKEIN_DEFAULTS, SKEIN_KEYS, type SkeinSettings } from './skein-settings.js';

export interface Origin {
  readonly source: LayerSource | 'default';
  readonly file?: string;
  /** Counts from 1. */
  readonly line?: number;
}

export interface Sourced<T> extends Origin {
  readonly value: T;
}

/** Hooks as they were written; `lineOf` takes a path from the key `hooks` on. */
export interface SourcedHooks extends Sourced<unknown> {
  readonly lineOf: (path: JsonPath) => number | undefined;
}

export interface MergedSettings {
  readonly rules: readonly PermissionRule[];
  readonly mode: Sourced<PermissionMode>;
  /** The file that forbids the mode bypassPermissions. */
  readonly bypassDisabledBy?: string;
  readonly additionalDirectories: readonly Sourced<string>[];
  readonly env: Readonly<Record<string, Sourced<string>>>;
  readonly model?: Sourced<string>;
  readonly fallbackModel?: Sourced<string>;
  readonly language?: Sourced<string>;
  readonly outputStyle?: Sourced<string>;
  /** Those that may run, weakest source first. */
  readonly hooks: readonly SourcedHooks[];
  /** Somebody has switched off all hooks but those of the policy, wherever they are written. */
  readonly onlyManagedHooks: boolean;
  readonly skein: SkeinSettings;
  readonly skeinOrigins: Readonly<Record<string, Origin>>;
  readonly others: readonly Sourced<Readonly<Record<string, unknown>>>[];
  readonly warnings: readonly string[];
}

/** Throws a UsageError where a mode that cannot be read would leave a looser one in force. */
export const mergeSettings = (layers: readonly Layer[], home: string): MergedSettings => {
  const strongest: Strongest = (path, pick) =>
    layers.flatMap((layer) => sourced(layer, path, pick(layer))).at(-1);
  const each = <T>(path: JsonPath, pick: (layer: Layer) => readonly T[]): readonly Sourced<T>[] =>
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
  const barrier = layers.find(({ values }) => values.bypassDisabled);
  return {
    rules,
    mode: mode.mode,
    ...(barrier && { bypassDisabledBy: barrier.file ?? barrier.source }),
    additionalDirectories: each(DIRECTORIES, ({ values, base }) =>
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
    others: each([], ({ values }) =>
      Object.keys(values.others).length > 0 ? [values.others] : [],
    ),
    warnings: [...warnings, ...mode.warnings],
  };
};

type Strongest = <T>(
  path: JsonPath,
  pick: (layer: Layer) => T | undefined,
) => Sourced<T> | undefined;

const MODE = ['permissions', 'defaultMode'];
const DIRECTORIES = ['permissions', 'additionalDirectories'];

const originOf = ({ source, file, lineOf }: Layer, path: JsonPath): Origin => {
  const line = path.length === 0 || file === undefined ? undefined : lineOf(path);
  return { source, ...(file !== undefined && { file }), ...(line !== undefined && { line }) };
};

const sourced = <T>(layer: Layer, path: JsonPath, value: T | undefined): readonly Sourced<T>[] =>
  value === undefined ? [] : [{ value, ...originOf(layer, path) }];

const BEHAVIORS: readonly RuleBehavior[] = ['deny', 'ask', 'allow'];

/** Where only the policy may allow, what others forbid or want to be asked still holds. */
const mergeRules = (layers: readonly Layer[]) => {
  const rules = layers.flatMap(rulesOf);
  const barrier = layers.find(({ values }) => values.switches.allowManagedPermissionRulesOnly);
  if (barrier === undefined) return { rules, warnings: [] };
  const kept = rules.filter(({ behavior, source }) => behavior !== 'allow' || source === 'policy');
  const left = rules.length - kept.length;
  const warning = `${barrier.file} lets only the managed policy allow calls, so ${left} allow rules of others do not apply; ask your administrator.`;
  return { rules: kept, warnings: left === 0 ? [] : [warning] };
};

const rulesOf = ({ source, file, values }: Layer): readonly PermissionRule[] =>
  // The environment holds no rules.
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

const mergeMode = (layers: readonly Layer[], wanted: Sourced<PermissionMode> | undefined) => {
  const mode = wanted ?? { value: 'default' as const, source: 'default' as const };
  // Somebody stronger wanted another mode than this, and perhaps a stricter one.
  const above = layers.findLast(
    ({ values }) => values.defaultMode !== undefined || values.unreadableMode !== undefined,
  );
  if (above?.values.unreadableMode !== undefined && LOOSE.includes(mode.value)) {
    throw new UsageError(
      `${above.values.unreadableMode} cannot be used, and without it the mode ${mode.value} of ${mode.file ?? mode.source} would apply: write one of ${PERMISSION_MODES.join(', ')}.`,
    );
  }
  const barrier = layers.find(({ values }) => values.bypassDisabled);
  if (mode.value !== 'bypassPermissions' || barrier === undefined) return { mode, warnings: [] };
  const place = barrier.file ?? barrier.source;
  const warning = `Mode bypassPermissions is disabled by ${place}; mode default is used.`;
  const origin = originOf(barrier, ['permissions', 'disableBypassPermissionsMode']);
  return { mode: { value: 'default' as const, ...origin }, warnings: [warning] };
};

/** Hooks of the policy run unless the policy itself switches them off. */
const mergeHooks = (
  layers: readonly Layer[],
): Pick<MergedSettings, 'hooks' | 'onlyManagedHooks'> => {
  const policy = layers.filter(({ source }) => source === 'policy');
  const saysOff = (some: readonly Layer[]) =>
    some.findLast(({ values }) => values.disableAllHooks !== undefined)?.values.disableAllHooks;
  if (saysOff(policy) === true) return { hooks: [], onlyManagedHooks: true };
  const onlyManagedHooks =
    saysOff(layers) === true ||
    policy.some(({ values }) => values.switches.allowManagedHooksOnly === true);
  const hooks = (onlyManagedHooks ? policy : layers).flatMap((layer) =>
    sourced(layer, ['hooks'], layer.values.hooks).map((hooks) => ({
      ...hooks,
      lineOf: (path: JsonPath) => layer.lineOf(['hooks', ...path]),
    })),
  );
  return { hooks, onlyManagedHooks };
};

const mergeEnv = (layers: readonly Layer[]): MergedSettings['env'] =>
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
  const skeinOrigins: Record<string, Origin> = {};
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
