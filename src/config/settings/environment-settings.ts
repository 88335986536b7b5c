/**
 * Settings from the environment, in the form of a settings file. Somebody typed these just now, so
 * a value that cannot be used ends the command instead of being ignored.
 */
import { UsageError } from '../../protocol/errors.js';
import type { ConfigEnvironment } from '../workspace/config-environment.js';
import { describe } from './settings-warnings.js';
import { environmentName, type KeyRule, SKEIN_KEYS } from './skein-settings.js';

export const environmentValues = (env: ConfigEnvironment['env']): object | undefined => {
  const skein: Record<string, unknown> = {};
  for (const [key, rule] of Object.entries(SKEIN_KEYS)) {
    const name = environmentName(key);
    const text = env[name];
    if (text !== undefined && text !== '') skein[key] = parse(text, name, rule);
  }
  const redis = env.SKEIN_REDIS_URL;
  if (redis && skein.store === undefined)
    skein.store = parse(redis, 'SKEIN_REDIS_URL', SKEIN_KEYS.store);
  const model = env.ANTHROPIC_MODEL;
  if (!model && Object.keys(skein).length === 0) return undefined;
  return { ...(model && { model }), skein };
};

/** The variable is text; the schema decides whether a number, an object or a switch was meant. */
const parse = (text: string, name: string, { schema, expects }: KeyRule): unknown => {
  for (const candidate of [text, Number(text), fromJson(text), SWITCHES[text]]) {
    const parsed = schema.safeParse(candidate);
    if (parsed.success) return parsed.data;
  }
  const found = name.endsWith('_URL') || name.endsWith('STORE') ? 'something else' : describe(text);
  throw new UsageError(`${name} cannot be used: expected ${expects}, found ${found}.`);
};

const SWITCHES: Readonly<Record<string, boolean>> = { 0: false, 1: true };

const fromJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
