/**
 * Restricts the settings of a workspace that no person has trusted.
 *
 * Its deny and ask rules and the mode `plan` apply. Settings that could run code, widen access, cost money,
 * change the model or add to the system prompt are dropped and listed.
 */
import { isRecord } from '../../lib/json/is-record.js';
import type { SettingsValues } from '../settings/read-settings.js';
import type { SettingsLayer } from '../settings/settings-layers.js';

export interface IgnoredSetting {
  readonly file: string;
  readonly key: string;
}

interface RestrictedLayer {
  readonly layer: SettingsLayer;
  readonly ignored: readonly IgnoredSetting[];
}

export const restrictUntrusted = (layer: SettingsLayer): RestrictedLayer => {
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
    ignored: droppedKeys(layer.values).map((key) => ({ file, key })),
  };
};

/** Returns a sentence for stderr. Returns undefined if no setting was ignored. */
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

const droppedKeys = (values: SettingsValues): readonly string[] => {
  const { rules, defaultMode, additionalDirectories, env, skein, model, fallbackModel } = values;
  const present: Record<string, boolean> = {
    'permissions.allow': rules.allow.length > 0,
    'permissions.defaultMode': defaultMode !== undefined && defaultMode !== 'plan',
    'permissions.additionalDirectories': additionalDirectories.length > 0,
    env: Object.keys(env).length > 0,
    hooks: hasEntries(values.hooks) || values.disableAllHooks !== undefined,
    model: model !== undefined,
    fallbackModel: fallbackModel !== undefined,
    language: values.language !== undefined,
    outputStyle: values.outputStyle !== undefined,
    skein: Object.keys(skein).length > 0,
  };
  return Object.keys(present).filter((key) => present[key]);
};

/** False for `{}`, because no hook is withheld then. */
const hasEntries = (hooks: unknown): boolean =>
  hooks !== undefined && (!isRecord(hooks) || Object.keys(hooks).length > 0);
