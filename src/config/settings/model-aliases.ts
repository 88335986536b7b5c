/** Short names of models. */

export const MODEL_ALIASES: Readonly<Record<string, string>> = {
  default: 'claude-sonnet-5-5',
  opus: 'claude-opus-5-5',
  sonnet: 'claude-sonnet-5-5',
  haiku: 'claude-haiku-5-5',
  fable: 'claude-fable-5-1',
};

/**
 * Returns the model id of an alias, or the name itself if it is none. The user's own aliases come first and may
 * refer to a built-in alias: `fast` → `haiku`.
 */
export const resolveModel = (name: string, own: Readonly<Record<string, string>> = {}): string => {
  const resolved = Object.hasOwn(own, name) ? (own[name] ?? name) : name;
  const alias = resolved.toLowerCase();
  return Object.hasOwn(MODEL_ALIASES, alias) ? (MODEL_ALIASES[alias] ?? resolved) : resolved;
};
