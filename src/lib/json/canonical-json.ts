/** JSON text that is equal for equal values, for hashes and signatures. */
import { isRecord } from './is-record.js';

/**
 * Returns JSON with sorted keys. Only the order of keys is ignored, because a reader, store or proxy
 * may change it. Throws like JSON.stringify.
 */
export const canonicalJson = (value: unknown): string =>
  (isFlatAndSorted(value) ? JSON.stringify(value) : sortedJson(value)) ?? 'null';

/** True for a flat record with sorted keys, which needs no sorting. A fast path, because most values are such. */
const isFlatAndSorted = (value: unknown): boolean => {
  if (!isRecord(value) || 'toJSON' in value) return false;
  let last = '';
  for (const key of Object.keys(value)) {
    if (key < last || typeof value[key] === 'object') return false;
    last = key;
  }
  return true;
};

const sortedJson = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, nested: unknown) =>
    isRecord(nested) ? withSortedKeys(nested) : nested,
  );

const withSortedKeys = (record: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(record)
      .sort()
      .map((key) => [key, record[key]]),
  );
