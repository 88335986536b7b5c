/** JSON text that is the same for equal values: what is hashed and signed. */

/**
 * The order of keys does not count: a tool reads its input by name, and whoever shows, forwards or
 * stores it may write the keys in another order. Everything else counts. Throws where JSON does.
 */
export const canonicalJson = (value: unknown): string =>
  (isPlain(value) ? JSON.stringify(value) : inOrderThroughout(value)) ?? 'null';

/** Nothing in it could be in another order: so it is with most inputs, and looking is faster. */
const isPlain = (value: unknown): boolean => {
  if (!isRecord(value) || 'toJSON' in value) return false;
  let last = '';
  for (const key of Object.keys(value)) {
    if (key < last || typeof value[key] === 'object') return false;
    last = key;
  }
  return true;
};

const inOrderThroughout = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, member: unknown) => (isRecord(member) ? inOrder(member) : member));

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const inOrder = (record: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(record)
      .sort()
      .map((key) => [key, record[key]]),
  );
