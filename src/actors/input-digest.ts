/** The digest that binds an answer, and a record, to the exact input of a call. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../protocol/canonical-json.js';

export const inputDigest = (input: unknown): string =>
  createHash('sha256').update(canonicalJson(input)).digest('hex');
