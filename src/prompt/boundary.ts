/** Boundary marker between the static zone of the system prompt and the rest. It is never sent. */
export const BOUNDARY = '__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__';

/**
 * Returns the text with the marker spelled differently, so that no file, name or flag can inject
 * it.
 */
export const withoutBoundary = (text: string): string =>
  text.replaceAll(BOUNDARY, BOUNDARY.replaceAll('_', '-'));
