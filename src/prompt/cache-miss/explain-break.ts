/** Puts a cache break down to what caused it, and says so in a sentence for people. */
import type { CacheCause, Change } from '../../protocol/model/cache-causes.js';
import type { JournalBody } from '../../protocol/session/journal.js';
import { type Difference, differencesOf, type KnownRequest } from './cache-break.js';
import type { MessageChange } from './message-change.js';

interface Declared {
  readonly reason: (JournalBody & { type: 'prompt.broken' })['reason'] | 'rewind';
  readonly section: string;
}

export interface BreakFacts {
  readonly before: KnownRequest;
  readonly now: KnownRequest;
  readonly message: MessageChange | undefined;
  /** What was declared since the request before. */
  readonly declared: readonly Declared[];
  /** Since the request before; null when nobody knows. */
  readonly idleMs: number | null;
}

export interface Explanation {
  readonly cause: CacheCause;
  readonly expected: boolean;
  readonly owner: string;
  readonly change?: Change;
  readonly byte: number | null;
  /** A sentence. */
  readonly detail: string;
}

/** What each declaration answers for. Sections are computed again when a conversation begins anew. */
const ANSWERS_FOR: Readonly<Record<Declared['reason'], readonly CacheCause[]>> = {
  compaction: ['messages', 'system', 'marks'],
  clear: ['messages', 'system', 'marks'],
  rewind: ['messages', 'system', 'tools', 'marks'],
  truncation: ['messages'],
  model: ['model', 'betas', 'system', 'settings', 'effort', 'thinking', 'marks'],
  section: ['system', 'tools', 'marks'],
};

const LIFETIME_MS: Readonly<Record<string, number>> = { '5m': 5 * 60_000, '1h': 60 * 60_000 };

export const explainBreak = (facts: BreakFacts): Explanation => {
  const { why, ...explanation } = findingOf(facts);
  return { ...explanation, detail: `${why.charAt(0).toUpperCase()}${why.slice(1)}.` };
};

type Finding = Omit<Explanation, 'detail'> & { readonly why: string };

const findingOf = (facts: BreakFacts): Finding => {
  const differences = inOrder(facts);
  const isDeclared = ({ cause }: Difference) =>
    facts.declared.some(({ reason }) => ANSWERS_FOR[reason].includes(cause));
  const accident = differences.find((difference) => !isDeclared(difference));
  if (accident !== undefined) {
    const others = differences.filter((difference) => difference !== accident);
    return { ...accident, expected: false, why: wordsOf(accident, others) };
  }
  const [first] = differences;
  const declared =
    facts.declared.find(({ reason }) => first && ANSWERS_FOR[reason].includes(first.cause)) ??
    facts.declared.at(-1);
  return declared === undefined ? nothingChanged(facts) : declaredBreak(declared, first, facts);
};

/** Messages stand behind everything else, and marks change no word. */
const inOrder = ({ before, now, message }: BreakFacts): readonly Difference[] => {
  const differences = differencesOf(before, now);
  if (message === undefined) return differences;
  const { index, change, byte } = message;
  const inMessages = { cause: 'messages', owner: `message ${index + 1}`, change, byte } as const;
  const isMark = ({ cause }: Difference) => cause === 'marks';
  return [
    ...differences.filter((difference) => !isMark(difference)),
    inMessages,
    ...differences.filter(isMark),
  ];
};

const declaredBreak = (
  { reason, section }: Declared,
  first: Difference | undefined,
  facts: BreakFacts,
): Finding => {
  const isHead = reason === 'model' || reason === 'section';
  const owner = isHead && first !== undefined ? first.owner : section;
  const byte = (isHead ? first?.byte : facts.message?.byteInAll) ?? null;
  const given = reason === 'section' ? reasonOf(owner, facts) : undefined;
  const why = given === undefined ? DECLARED[reason] : `${DECLARED[reason]}: ${given}`;
  return { cause: reason, expected: true, owner, change: 'changed', byte, why };
};

/** Why the section may change, which one that is computed every turn has to say (P8). */
const reasonOf = (owner: string, { before, now }: BreakFacts): string | undefined =>
  [now, before]
    .flatMap(({ sent }) => sent?.sections ?? [])
    .find(({ name, mayChange }) => owner === `section ${name}` && mayChange !== undefined)
    ?.mayChange;

const DECLARED: Readonly<Record<Declared['reason'], string>> = {
  compaction: 'the conversation was summarised',
  clear: 'the conversation was begun anew',
  rewind: 'the conversation was taken back',
  truncation: 'the oldest messages were dropped',
  model: 'another model answers',
  section: 'a section of the system prompt says something else now',
};

const nothingChanged = ({ before, idleMs }: BreakFacts): Finding => {
  const ttl = before.shape.ttl ?? '';
  const lifetime = LIFETIME_MS[ttl];
  if (lifetime !== undefined && idleMs !== null && idleMs > lifetime) {
    const minutes = Math.floor(idleMs / 60_000);
    const why = `the request before was ${minutes} minutes ago, and what is cached lives for ${ttl}`;
    return { cause: 'expired', expected: false, owner: 'time', byte: null, why };
  }
  const why = 'nothing that was sent has changed, so the server has dropped it';
  return { cause: 'server', expected: false, owner: 'server', byte: null, why };
};

const wordsOf = (difference: Difference, others: readonly Difference[]): string => {
  const also = others.map(({ owner }) => owner).join(', ');
  return `${whatHappened(difference)}${also === '' ? '' : ` (also changed: ${also})`}`;
};

const whatHappened = ({ owner, change, byte }: Difference): string => {
  if (owner.includes(' → ')) return `the request changed: ${owner}`;
  if (change !== 'changed') return `${owner} was ${change}`;
  return byte === null ? `${owner} has changed` : `${owner} has changed at its byte ${byte}`;
};
