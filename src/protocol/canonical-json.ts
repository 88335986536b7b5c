/** JSON text that is the same for equal values: what is hashed and signed. */

/**
 * The order of keys does not count: a tool reads its input by name, and whoever shows, forwards or
 * stores it may write the keys in another order. Everything else counts. Throws where JSON does.
 */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) => (isRecord(member) ? inOrder(member) : member)) ??
  'null';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const inOrder = (record: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(record)
      .sort()
      .map((key) => [key, record[key]]),
  );
