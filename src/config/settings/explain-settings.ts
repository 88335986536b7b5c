/** Rows of `skein config`: every effective value with its origin. Secrets are masked. */
import type { LoadedSettings } from './load-settings.js';
import type { Sourced } from './merge-settings.js';
import { resolveModel } from './model-aliases.js';
import { SKEIN_KEYS, type SkeinKey } from './skein-settings.js';

export interface SettingRow {
  readonly key: string;
  readonly value: unknown;
  readonly source: string;
  readonly file?: string;
  readonly line?: number;
}

export const explainSettings = (settings: LoadedSettings): readonly SettingRow[] => [
  row('model', settings.model ?? { value: resolveModel('default'), source: 'default' }),
  ...(settings.fallbackModel ? [row('fallbackModel', settings.fallbackModel)] : []),
  ...(settings.language ? [row('language', settings.language)] : []),
  ...(settings.outputStyle ? [row('outputStyle', settings.outputStyle)] : []),
  row('permissions.defaultMode', settings.mode),
  ...settings.additionalDirectories.map((folder) =>
    row('permissions.additionalDirectories', folder),
  ),
  ...settings.rules.map(({ behavior, text, ...origin }) =>
    row(`permissions.${behavior}`, { value: text, ...origin }),
  ),
  ...Object.entries(settings.env).map(([name, variable]) =>
    row(`env.${name}`, { ...variable, value: maskEnv(name, variable.value) }),
  ),
  ...settings.hooks.map((hook) => row('hooks', hook)),
  ...(Object.keys(SKEIN_KEYS) as SkeinKey[]).map((key) =>
    row(`skein.${key}`, {
      value: settings.skein[key],
      source: 'default',
      ...settings.skeinOrigins[key],
    }),
  ),
];

const row = (
  key: string,
  {
    value,
    source,
    file,
    line,
  }: Pick<Sourced<unknown>, 'value' | 'file' | 'line'> & { readonly source: string },
): SettingRow => ({
  key,
  value: typeof value === 'string' ? maskPassword(value) : value,
  source,
  ...(file !== undefined && { file }),
  ...(line !== undefined && { line }),
});

const SECRET_NAME = /key|token|secret|passw|credential|auth|cookie|private|dsn/i;
const SECRET_VALUE = /^(?:sk-|gh[pousr]_|github_pat_|xox|glpat-|AKIA|eyJ|-----BEGIN)/;

const maskEnv = (name: string, value: string) =>
  SECRET_NAME.test(name) || SECRET_VALUE.test(value) ? '***' : value;

/** Masks the passwords of `redis://user:password@host?sentinelPassword=password`. */
const maskPassword = (text: string) =>
  text
    .replace(/(:\/\/[^\s/:@]*):[^\s/]*@/, '$1:***@')
    .replaceAll(/([?&]\w*password=)[^\s&]*/gi, '$1***');
