/** Explains a cache miss: finds its cause and describes it in a sentence for people. */
import type { CacheCause, PartChange } from '../../protocol/model/cache-causes.js';
import type { JournalBody } from '../../protocol/session/journal-record.js';
import type { MessageChange } from './message-change.js';
import {
  type KnownRequest,
  type RequestDifference,
  requestDifferences,
} from './request-difference.js';

interface Declared {
  readonly reason: (JournalBody & { type: 'prompt.broken' })['reason'] | 'rewind';
  readonly section: string;
}

export interface MissFacts {
  readonly before: KnownRequest;
  readonly now: KnownRequest;
  readonly message: MessageChange | undefined;
  /** Breaks declared since the previous request. */
  readonly declared: readonly Declared[];
  /** Milliseconds since the previous request; null if unknown. */
  readonly idleMs: number | null;
}

export interface Explanation {
  readonly cause: CacheCause;
  readonly expected: boolean;
  readonly owner: string;
  readonly change?: PartChange;
  readonly byte: number | null;
  /** Sentence for people. */
  readonly detail: string;
}

/** Causes that each declaration explains. Clearing a conversation also recomputes the sections. */
const ANSWERS_FOR: Readonly<Record<Declared['reason'], readonly CacheCause[]>> = {
  compaction: ['messages', 'system', 'marks'],
  clear: ['messages', 'system', 'marks'],
  rewind: ['messages', 'system', 'tools', 'marks'],
  truncation: ['messages'],
  model: ['model', 'betas', 'system', 'settings', 'effort', 'thinking', 'marks'],
  section: ['system', 'tools', 'marks'],
};

const LIFETIME_MS: Readonly<Record<string, number>> = { '5m': 5 * 60_000, '1h': 60 * 60_000 };

export const explainMiss = (facts: MissFacts): Explanation => {
  const { why, ...explanation } = findingOf(facts);
  return { ...explanation, detail: `${why.charAt(0).toUpperCase()}${why.slice(1)}.` };
};

type Finding = Omit<Explanation, 'detail'> & { readonly why: string };

const findingOf = (facts: MissFacts): Finding => {
  const differences = inOrder(facts);
  const isDeclared = ({ cause }: RequestDifference) =>
    facts.declared.some(({ reason }) => ANSWERS_FOR[reason].includes(cause));
  const accident = differences.find((difference) => !isDeclared(difference));
  if (accident !== undefined) {
    const others = differences.filter((difference) => difference !== accident);
    return { ...accident, expected: false, why: describeDifferences(accident, others) };
  }
  const [first] = differences;
  const declared =
    facts.declared.find(({ reason }) => first && ANSWERS_FOR[reason].includes(first.cause)) ??
    facts.declared.at(-1);
  return declared === undefined ? unchangedFinding(facts) : declaredBreak(declared, first, facts);
};

/** Returns the differences in prompt order: messages after the head, breakpoints last. */
const inOrder = ({ before, now, message }: MissFacts): readonly RequestDifference[] => {
  const differences = requestDifferences(before, now);
  if (message === undefined) return differences;
  const { index, change, byte } = message;
  const inMessages = { cause: 'messages', owner: `message ${index + 1}`, change, byte } as const;
  const isBreakpoint = ({ cause }: RequestDifference) => cause === 'marks';
  return [
    ...differences.filter((difference) => !isBreakpoint(difference)),
    inMessages,
    ...differences.filter(isBreakpoint),
  ];
};

const declaredBreak = (
  { reason, section }: Declared,
  first: RequestDifference | undefined,
  facts: MissFacts,
): Finding => {
  const isHead = reason === 'model' || reason === 'section';
  const owner = isHead && first !== undefined ? first.owner : section;
  const byte = (isHead ? first?.byte : facts.message?.byteInAll) ?? null;
  const sectionReason = reason === 'section' ? reasonOf(owner, facts) : undefined;
  const why =
    sectionReason === undefined ? DECLARED[reason] : `${DECLARED[reason]}: ${sectionReason}`;
  return { cause: reason, expected: true, owner, change: 'changed', byte, why };
};

/** Returns the reason that an uncached section gives for its changes. */
const reasonOf = (owner: string, { before, now }: MissFacts): string | undefined =>
  [now, before]
    .flatMap(({ sent }) => sent?.sections ?? [])
    .find(({ name, mayChange }) => owner === `section ${name}` && mayChange !== undefined)
    ?.mayChange;

const DECLARED: Readonly<Record<Declared['reason'], string>> = {
  compaction: 'the conversation was summarised',
  clear: 'the conversation was cleared',
  rewind: 'the conversation was rewound',
  truncation: 'the oldest messages were dropped',
  model: 'another model answers',
  section: 'a section of the system prompt has changed',
};

const unchangedFinding = ({ before, idleMs }: MissFacts): Finding => {
  const ttl = before.shape.ttl ?? '';
  const lifetime = LIFETIME_MS[ttl];
  if (lifetime !== undefined && idleMs !== null && idleMs > lifetime) {
    const minutes = Math.floor(idleMs / 60_000);
    const why = `the previous request was ${minutes} minutes ago, and cache entries live for ${ttl}`;
    return { cause: 'expired', expected: false, owner: 'time', byte: null, why };
  }
  const why = 'the sent prefix has not changed, so the server has dropped its cache entry';
  return { cause: 'server', expected: false, owner: 'server', byte: null, why };
};

const describeDifferences = (
  difference: RequestDifference,
  others: readonly RequestDifference[],
): string => {
  const otherOwners = others.map(({ owner }) => owner).join(', ');
  return `${describeDifference(difference)}${otherOwners === '' ? '' : ` (also changed: ${otherOwners})`}`;
};

const describeDifference = ({ owner, change, byte }: RequestDifference): string => {
  if (owner.includes(' → ')) return `the request changed: ${owner}`;
  if (change !== 'changed') return `${owner} was ${change}`;
  return byte === null ? `${owner} has changed` : `${owner} has changed at its byte ${byte}`;
};
