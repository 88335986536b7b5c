/** The digest that binds an answer, and a record, to the exact input of a call. */
import { hash } from 'node:crypto';
import { canonicalJson } from '../protocol/canonical-json.js';

export const inputDigest = (input: unknown): string => hash('sha256', canonicalJson(input));
