/**
 * The system prompt as a branded list of texts, in the order in which the model reads them. Only
 * `asSystemPrompt` makes the type, so that no other list of strings is sent to a model by mistake.
 */
declare const brand: unique symbol;

export type SystemPrompt = readonly string[] & { readonly [brand]: 'SystemPrompt' };

/** Brands the texts. The list is not copied. */
export const asSystemPrompt = (texts: readonly string[]): SystemPrompt => texts as SystemPrompt;

/** Separator of two sections that share a block. */
export const BETWEEN = '\n\n';
