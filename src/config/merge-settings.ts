/**
 * Folds layers into effective settings. Single values: the strongest layer that has one. Rules and
 * directories add up; env is merged name by name. Every value keeps its origin.
 */
import { join, resolve } from 'node:path';
import type { PermissionMode, PermissionRule, RuleBehavior } from '../protocol/permission.js';
import type { Layer, LayerSource } from './settings-layers.js';
import { SKEIN_DEFAULTS, SKEIN_KEYS, type SkeinSettings } from './skein-settings.js';

export interface Origin {
  readonly source: LayerSource | 'default';
  readonly file?: string;
}

export interface Sourced<T> extends Origin {
  readonly value: T;
}

export interface MergedSettings {
  readonly rules: readonly PermissionRule[];
  readonly mode: Sourced<PermissionMode>;
  readonly additionalDirectories: readonly Sourced<string>[];
  readonly env: Readonly<Record<string, Sourced<string>>>;
  readonly model?: Sourced<string>;
  readonly fallbackModel?: Sourced<string>;
  readonly language?: Sourced<string>;
  readonly outputStyle?: Sourced<string>;
  readonly hooks: readonly Sourced<unknown>[];
  readonly skein: SkeinSettings;
  readonly skeinOrigins: Readonly<Record<string, Origin>>;
  readonly others: readonly Sourced<Readonly<Record<string, unknown>>>[];
  readonly warnings: readonly string[];
}

export const mergeSettings = (layers: readonly Layer[], home: string): MergedSettings => {
  const strongest = <T>(pick: (layer: Layer) => T | undefined): Sourced<T> | undefined =>
    layers.flatMap((layer) => sourced(layer, pick(layer))).at(-1);
  const each = <T>(pick: (layer: Layer) => readonly T[]): readonly Sourced<T>[] =>
    layers.flatMap((layer) => pick(layer).flatMap((value) => sourced(layer, value)));

  const { skein, skeinOrigins } = mergeSkein(strongest);
  const model = strongest(({ values }) => values.model);
  const fallbackModel = strongest(({ values }) => values.fallbackModel);
  const language = strongest(({ values }) => values.language);
  const outputStyle = strongest(({ values }) => values.outputStyle);
  return {
    rules: layers.flatMap(rulesOf),
    ...mergeMode(
      layers,
      strongest(({ values }) => values.defaultMode),
    ),
    additionalDirectories: each(({ values, base }) =>
      values.additionalDirectories.map((path) => absolute(path, base, home)),
    ),
    env: Object.fromEntries(
      each(({ values }) => Object.entries(values.env)).map(
        ({ value: [name, value], ...origin }) => [name, { value, ...origin }],
      ),
    ),
    ...(model && { model }),
    ...(fallbackModel && { fallbackModel }),
    ...(language && { language }),
    ...(outputStyle && { outputStyle }),
    hooks: each(({ values }) => (values.hooks === undefined ? [] : [values.hooks])),
    skein,
    skeinOrigins,
    others: each(({ values }) => (Object.keys(values.others).length > 0 ? [values.others] : [])),
  };
};

const originOf = ({ source, file }: Layer): Origin => ({
  source,
  ...(file !== undefined && { file }),
});

const sourced = <T>(layer: Layer, value: T | undefined): readonly Sourced<T>[] =>
  value === undefined ? [] : [{ value, ...originOf(layer) }];

const BEHAVIORS: readonly RuleBehavior[] = ['deny', 'ask', 'allow'];

const rulesOf = ({ source, file, values }: Layer): readonly PermissionRule[] =>
  // The environment holds no rules.
  source === 'environment'
    ? []
    : BEHAVIORS.flatMap((behavior) =>
        values.rules[behavior].map((text) => ({
          behavior,
          text,
          source,
          ...(file !== undefined && { file }),
        })),
      );

const mergeMode = (layers: readonly Layer[], wanted: Sourced<PermissionMode> | undefined) => {
  const mode = wanted ?? { value: 'default' as const, source: 'default' as const };
  const barrier = layers.find(({ values }) => values.bypassDisabled);
  if (mode.value !== 'bypassPermissions' || barrier === undefined) return { mode, warnings: [] };
  const place = barrier.file ?? barrier.source;
  const warning = `Mode bypassPermissions is disabled by ${place}; mode default is used.`;
  return { mode: { value: 'default' as const, ...originOf(barrier) }, warnings: [warning] };
};

const mergeSkein = (
  strongest: <T>(pick: (layer: Layer) => T | undefined) => Sourced<T> | undefined,
) => {
  const skein: Record<string, unknown> = { ...SKEIN_DEFAULTS };
  const skeinOrigins: Record<string, Origin> = {};
  for (const key of Object.keys(SKEIN_KEYS) as (keyof SkeinSettings)[]) {
    const found = strongest(({ values }) => values.skein[key]);
    if (found) skein[key] = found.value;
    const { value: _, ...origin } = found ?? { value: undefined, source: 'default' as const };
    skeinOrigins[key] = origin;
  }
  return { skein: skein as unknown as SkeinSettings, skeinOrigins };
};

const absolute = (path: string, base: string, home: string) =>
  path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : resolve(base, path);
