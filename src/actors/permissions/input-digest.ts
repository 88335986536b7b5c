/** Digest that binds an answer and a journal record to the exact input of a call. */
import { hash } from 'node:crypto';
import { canonicalJson } from '../../lib/json/canonical-json.js';

/** Returns the first 16 hex digits of the SHA-256. Not safe against deliberate collisions. */
export const shortDigest = (text: string): string => hash('sha256', text).slice(0, 16);

export const inputDigest = (input: unknown): string => hash('sha256', canonicalJson(input));
