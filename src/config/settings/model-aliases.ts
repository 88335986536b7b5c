/** Short names of models. An id that is no alias passes through as it was given. */

export const MODEL_ALIASES: Readonly<Record<string, string>> = {
  default: 'claude-sonnet-5-5',
  opus: 'claude-opus-5-5',
  sonnet: 'claude-sonnet-5-5',
  haiku: 'claude-haiku-5-5',
  fable: 'claude-fable-5-1',
};

/** The user's own aliases come first, and may name a built-in one: `fast` → `haiku`. */
export const resolveModel = (name: string, own: Readonly<Record<string, string>> = {}): string => {
  const meant = Object.hasOwn(own, name) ? (own[name] ?? name) : name;
  const alias = meant.toLowerCase();
  return Object.hasOwn(MODEL_ALIASES, alias) ? (MODEL_ALIASES[alias] ?? meant) : meant;
};
