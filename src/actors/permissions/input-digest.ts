/** The digest that binds an answer, and a record, to the exact input of a call. */
import { hash } from 'node:crypto';
import { canonicalJson } from '../../lib/canonical-json.js';

/** Enough to tell results apart that nobody made in order to deceive. */
export const shortDigest = (text: string): string => hash('sha256', text).slice(0, 16);

export const inputDigest = (input: unknown): string => hash('sha256', canonicalJson(input));
