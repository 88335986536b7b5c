/** Searches a session for words in its title, its prompts and its answers. */

import type { WireBlock } from '../../protocol/model/wire-block.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/session-store.js';
import { SkeinError } from '../../protocol/skein-error.js';

export interface SessionSearchHit {
  readonly where: 'title' | 'person' | 'model';
  /** Text around the first match. */
  readonly excerpt: string;
}

/** Returns a pattern that ignores case and matches any white space between the words. */
export const searchPattern = (text: string): RegExp => {
  const words = text.trim().split(/\s+/);
  const literal = words.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`));
  return new RegExp(literal.join(String.raw`\s+`), 'i');
};

/** Returns the first match, or undefined. Ignores journals that this version cannot read. */
export const searchSession = async (
  store: SessionStore,
  meta: SessionMeta,
  pattern: RegExp,
): Promise<SessionSearchHit | undefined> => {
  const titled = excerptOf(meta.title, pattern);
  if (titled !== undefined) return { where: 'title', excerpt: titled };
  try {
    for (const agent of await store.agents(meta.id)) {
      for await (const record of store.records(meta.id, agent)) {
        for (const text of textsOf(record)) {
          const excerpt = excerptOf(text, pattern);
          if (excerpt === undefined) continue;
          return { where: record.type === 'letter.received' ? 'person' : 'model', excerpt };
        }
      }
    }
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
  }
  return undefined;
};

const textsOf = (record: JournalRecord): readonly string[] => {
  if (record.type !== 'letter.received' && record.type !== 'assistant.received') return [];
  const blocks = JSON.parse(record.raw) as unknown;
  if (!Array.isArray(blocks)) return [];
  return (blocks as WireBlock[]).flatMap((block) =>
    block?.type === 'text' && typeof block.text === 'string' ? [block.text] : [],
  );
};

const BEFORE = 40;
const AFTER = 80;

const excerptOf = (text: string, pattern: RegExp): string | undefined => {
  const found = pattern.exec(text);
  if (found === null) return undefined;
  const start = Math.max(0, found.index - BEFORE);
  const end = found.index + Math.min(found[0].length, AFTER) + AFTER;
  const [before, after] = [start > 0 ? '…' : '', end < text.length ? '…' : ''];
  return `${before}${text.slice(start, end)}${after}`;
};
