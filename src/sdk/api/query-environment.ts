/** Environment, run options and provider of a query, from its options and this process. */
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { type Provider, providerOf } from '../assembly/options/provider.js';
import type { RunOptions } from '../assembly/options/run-options.js';
import type { QueryOptions } from './query-options.js';

export const toRunOptions = (options: QueryOptions): RunOptions => {
  const { agents, settings, jsonSchema, ...rest } = options;
  return {
    ...rest,
    ...(agents !== undefined && { agents: asJsonText(agents) }),
    ...(settings !== undefined && { settings: asJsonText(settings) }),
    ...(jsonSchema !== undefined && { jsonSchema: asJsonText(jsonSchema) }),
  };
};

const asJsonText = (value: string | object): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Returns the environment of this process, with the `env` and `skeinHome` of the options. */
export const queryEnvironment = ({ env, skeinHome }: QueryOptions) => {
  const own = env ?? process.env;
  return {
    env: skeinHome === undefined ? own : { ...own, SKEIN_HOME: resolve(skeinHome) },
    home: resolve(own.HOME || userInfo().homedir),
    cwd: process.cwd(),
    platform: process.platform,
    uid: process.geteuid?.(),
  };
};

/** Returns undefined if the options name no provider. Then settings and environment decide. */
export const queryProvider = (options: QueryOptions): Provider | undefined => {
  const { apiKey, baseUrl, env } = options;
  if (apiKey === undefined && baseUrl === undefined) return undefined;
  return providerOf({
    ...(env ?? process.env),
    ...keyVariables(options),
    ...(baseUrl !== undefined && { ANTHROPIC_BASE_URL: baseUrl }),
  });
};

/** Returns the key as environment variables, because other processes can read arguments. */
export const keyVariables = ({ apiKey }: QueryOptions): Record<string, string | undefined> =>
  apiKey === undefined ? {} : { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_AUTH_TOKEN: undefined };
