/** Returns the value if it is a string, else the fallback. */
export const textOr = <Fallback>(value: unknown, fallback: Fallback): string | Fallback =>
  typeof value === 'string' ? value : fallback;
