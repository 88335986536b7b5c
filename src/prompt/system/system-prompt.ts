/**
 * The system prompt as a value: texts in the order in which they are read, and nothing else. Only
 * `asSystemPrompt` makes one, so that no list of strings is sent to a model by mistake.
 */
declare const brand: unique symbol;

export type SystemPrompt = readonly string[] & { readonly [brand]: 'SystemPrompt' };

/** Costs nothing at run time. */
export const asSystemPrompt = (texts: readonly string[]): SystemPrompt => texts as SystemPrompt;

/** Stands between what is the same for everybody and what is not. It is never sent. */
export const BOUNDARY = '__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__';

/** Whoever writes the marker into a file, a name or a flag cannot have it sent either. */
export const withoutBoundary = (text: string): string =>
  text.replaceAll(BOUNDARY, BOUNDARY.replaceAll('_', '-'));

/** Between two sections that share a block. */
export const BETWEEN = '\n\n';
