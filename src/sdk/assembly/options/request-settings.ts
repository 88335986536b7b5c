/** Request settings of a model: output limit, thinking, effort and answer format. */
import type { LoadedSettings } from '../../../config/settings/load-settings.js';
import { modelFacts } from '../../../protocol/model/model-facts.js';
import { UsageError } from '../../../protocol/skein-error.js';
import type { RunOptions } from './run-options.js';

interface AnswerFormat {
  readonly type: 'json_schema';
  readonly schema: object;
}

export const requestSettings = (
  name: string,
  { skein }: LoadedSettings,
  format: AnswerFormat | undefined,
) => {
  const facts = modelFacts(name);
  const requested = skein.maxOutputTokens;
  const outputConfig = {
    ...(skein.effort !== undefined && { effort: skein.effort }),
    ...(format !== undefined && { format }),
  };
  return {
    maxTokens: Math.min(requested, facts?.maxOutput ?? requested),
    ...(skein.thinking !== undefined && { thinking: thinkingOf(skein.thinking) }),
    ...(Object.keys(outputConfig).length > 0 && { outputConfig: JSON.stringify(outputConfig) }),
  };
};

const thinkingOf = (thinking: 'off' | 'adaptive' | number): string => {
  if (thinking === 'off') return '{"type":"disabled"}';
  if (thinking === 'adaptive') return '{"type":"adaptive"}';
  return JSON.stringify({ type: 'enabled', budget_tokens: thinking });
};

/** Parses `--json-schema`. Throws UsageError if it is not a JSON object. */
export const answerFormat = ({ jsonSchema }: RunOptions): AnswerFormat | undefined => {
  if (jsonSchema === undefined) return undefined;
  let schema: unknown;
  try {
    schema = JSON.parse(jsonSchema);
  } catch (error) {
    throw new UsageError(`--json-schema is not valid JSON: ${(error as Error).message}.`);
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw new UsageError('--json-schema must be a JSON object.');
  }
  return { type: 'json_schema', schema };
};
