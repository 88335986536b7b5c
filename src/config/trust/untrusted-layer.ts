/**
 * What a workspace may say before a person trusts it: less. Its deny and ask rules apply, and so
 * does a wish for plan mode; whatever could run code, widen access, cost money, change who is spoken
 * to or speak in the system prompt does not, and is listed so that one sentence can say so.
 */
import type { Layer } from '../settings/settings-layers.js';
import type { SettingsValues } from '../settings/settings-schema.js';

export interface IgnoredSetting {
  readonly file: string;
  readonly key: string;
}

export interface Restricted {
  readonly layer: Layer;
  readonly ignored: readonly IgnoredSetting[];
}

export const restrictUntrusted = (layer: Layer): Restricted => {
  const { rules, defaultMode, bypassDisabled } = layer.values;
  const file = layer.file ?? layer.source;
  const values: SettingsValues = {
    rules: { allow: [], deny: rules.deny, ask: rules.ask },
    ...(defaultMode === 'plan' && { defaultMode }),
    bypassDisabled,
    additionalDirectories: [],
    env: {},
    switches: {},
    skein: {},
    others: {},
  };
  return {
    layer: { ...layer, values },
    ignored: dropped(layer.values).map((key) => ({ file, key })),
  };
};

/** One sentence for stderr, or undefined when nothing was ignored. */
export const explainIgnored = (
  root: string,
  state: 'untrusted' | 'changed',
  ignored: readonly IgnoredSetting[],
): string | undefined => {
  if (ignored.length === 0) return undefined;
  const keys = [...new Set(ignored.map(({ key }) => key))].join(', ');
  const why = state === 'changed' ? 'has changed since you trusted it' : 'is not trusted';
  return `The workspace ${root} ${why}, so its ${keys} do not apply; review them, then run skein trust or pass --trust.`;
};

const dropped = (values: SettingsValues): readonly string[] => {
  const { rules, defaultMode, additionalDirectories, env, skein, model, fallbackModel } = values;
  const present: Record<string, boolean> = {
    'permissions.allow': rules.allow.length > 0,
    'permissions.defaultMode': defaultMode !== undefined && defaultMode !== 'plan',
    'permissions.additionalDirectories': additionalDirectories.length > 0,
    env: Object.keys(env).length > 0,
    hooks: values.hooks !== undefined || values.disableAllHooks !== undefined,
    model: model !== undefined,
    fallbackModel: fallbackModel !== undefined,
    language: values.language !== undefined,
    outputStyle: values.outputStyle !== undefined,
    skein: Object.keys(skein).length > 0,
  };
  return Object.keys(present).filter((key) => present[key]);
};
