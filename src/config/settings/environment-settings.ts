/**
 * Settings of environment variables, in the format of a settings file.
 *
 * An invalid value ends the command, because the user has just set it.
 */
import { parseJson } from '../../lib/json/parse-json.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { ConfigEnvironment } from '../workspace/config-environment.js';
import { describeValue } from './settings-warnings.js';
import { environmentName, type KeyRule, SKEIN_KEYS } from './skein-settings.js';

/** Returns undefined if no variable is set. Throws UsageError for an invalid value. */
export const environmentSettings = (env: ConfigEnvironment['env']): object | undefined => {
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

/** Tries the text as a string, a number, JSON and a switch: the first that the schema accepts counts. */
const parse = (text: string, name: string, { schema, expects }: KeyRule): unknown => {
  for (const candidate of [text, Number(text), parseJson(text), SWITCHES[text]]) {
    const parsed = schema.safeParse(candidate);
    if (parsed.success) return parsed.data;
  }
  const found =
    name.endsWith('_URL') || name.endsWith('STORE') ? 'another text' : describeValue(text);
  throw new UsageError(`${name} cannot be used: expected ${expects}, found ${found}.`);
};

const SWITCHES: Readonly<Record<string, boolean>> = { 0: false, 1: true };
