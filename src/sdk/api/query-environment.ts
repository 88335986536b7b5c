/** What a program's options come to: how the run goes, where it happens, and who the model is. */
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { type Provider, providerOf } from '../assembly/options/provider.js';
import type { RunOptions } from '../assembly/options/run-options.js';
import type { QueryOptions } from './query-options.js';

export const runOptionsOf = (given: QueryOptions): RunOptions => {
  const { agents, settings, jsonSchema, ...rest } = given;
  return {
    ...rest,
    ...(agents !== undefined && { agents: written(agents) }),
    ...(settings !== undefined && { settings: written(settings) }),
    ...(jsonSchema !== undefined && { jsonSchema: written(jsonSchema) }),
  };
};

const written = (value: string | object): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Where the run happens: the process, but for what the options say. */
export const placeOf = ({ env, skeinHome }: QueryOptions) => {
  const own = env ?? process.env;
  return {
    env: skeinHome === undefined ? own : { ...own, SKEIN_HOME: resolve(skeinHome) },
    home: resolve(own.HOME || userInfo().homedir),
    cwd: process.cwd(),
    platform: process.platform,
    uid: process.geteuid?.(),
  };
};

/** Undefined when the options do not say: then settings have a word in it. */
export const providerFrom = (options: QueryOptions): Provider | undefined => {
  const { apiKey, baseUrl, env } = options;
  if (apiKey === undefined && baseUrl === undefined) return undefined;
  return providerOf({
    ...(env ?? process.env),
    ...keyVariables(options),
    ...(baseUrl !== undefined && { ANTHROPIC_BASE_URL: baseUrl }),
  });
};

/** The key as a process finds it; other processes can read arguments. */
export const keyVariables = ({ apiKey }: QueryOptions): Record<string, string | undefined> =>
  apiKey === undefined ? {} : { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_AUTH_TOKEN: undefined };
