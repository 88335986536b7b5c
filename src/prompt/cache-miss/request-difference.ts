/**
 * Compares two consecutive requests of an agent: lists every difference that can make the server
 * miss its cache, in the order of the prompt.
 */
import type { CacheCause, PartChange } from '../../protocol/model/cache-causes.js';
import {
  type ListKind,
  memberNames,
  memberText,
  type RequestShape,
  type SentHead,
  shapeDigest,
} from './request-shape.js';

/** A drop is a cache miss if it exceeds both 1/20 of the cached tokens and 2,000 tokens. */
const MIN_DROP_FRACTION = 20;
const MIN_DROP_TOKENS = 2_000;

/** `cached`: tokens that the previous request left in the cache. `read`: tokens read from it. */
export const isCacheBreak = (cached: number, read: number): boolean => {
  const drop = cached - read;
  return drop > MIN_DROP_TOKENS && drop * MIN_DROP_FRACTION > cached;
};

export interface RequestDifference {
  readonly cause: CacheCause;
  readonly owner: string;
  readonly change: PartChange;
  /** Offset in the owner's text; null if only its digest was kept. */
  readonly byte: number | null;
}

/**
 * A request with the facts known about it. `sent` is undefined if the head was lost with its
 * process. A stored head is used only where its digests equal the digests of the shape.
 */
export interface KnownRequest {
  readonly shape: RequestShape;
  readonly sent?: SentHead | undefined;
}

/**
 * Returns the differences in the order of the prompt; breakpoints last, because they change no
 * text.
 */
export const requestDifferences = (
  before: KnownRequest,
  now: KnownRequest,
): readonly RequestDifference[] => {
  const system =
    listDifference('section', 'system', before, now) ??
    listDifference('system block', 'system', before, now);
  const settings = Object.keys({ ...before.shape, ...now.shape }).filter(
    (name) => name === 'answer format' || name.startsWith('field '),
  );
  return [
    valueDifference('model', 'model', before, now),
    valueDifference('betas', 'betas', before, now),
    listDifference('tool', 'tools', before, now),
    system,
    ...settings.sort().map((name) => valueDifference('settings', name, before, now)),
    valueDifference('effort', 'effort', before, now),
    valueDifference('thinking', 'thinking', before, now),
    valueDifference('marks', 'ttl', before, now) ?? valueDifference('marks', 'marks', before, now),
  ].filter((difference) => difference !== undefined);
};

const valueDifference = (
  cause: CacheCause,
  name: string,
  { shape: before }: KnownRequest,
  { shape: now }: KnownRequest,
): RequestDifference | undefined => {
  const [oldValue = 'none', newValue = 'none'] = [before[name], now[name]];
  if (oldValue === newValue) return undefined;
  const owner = `${name.replace(/^field /, '')} ${oldValue} → ${newValue}`;
  const byte =
    cause === 'marks' ? null : firstDifference(Buffer.from(oldValue), Buffer.from(newValue));
  return { cause, owner, change: 'changed', byte };
};

/** Returns the first list member whose text or position changed. */
const listDifference = (
  kind: ListKind,
  cause: CacheCause,
  before: KnownRequest,
  now: KnownRequest,
): RequestDifference | undefined => {
  const [old, names] = [memberNames(before.shape, kind), memberNames(now.shape, kind)];
  const digest = ({ shape }: KnownRequest, name: string) => shape[`${kind} ${name}`];
  for (let index = 0; index < Math.max(old.length, names.length); index += 1) {
    const [oldName, newName] = [old[index], names[index]];
    if (oldName !== newName) return { cause, byte: 0, ...misplaced(kind, old, names, index) };
    if (newName === undefined || digest(before, newName) === digest(now, newName)) continue;
    const byte = byteIn(kind, newName, before, now);
    return { cause, owner: `${kind} ${newName}`, change: 'changed', byte };
  }
  return undefined;
};

const misplaced = (
  kind: ListKind,
  old: readonly string[],
  names: readonly string[],
  index: number,
): Pick<RequestDifference, 'owner' | 'change'> => {
  const [oldName, newName] = [old[index], names[index]];
  if (newName !== undefined && !old.includes(newName))
    return { owner: `${kind} ${newName}`, change: 'added' };
  if (oldName !== undefined && !names.includes(oldName)) {
    return { owner: `${kind} ${oldName}`, change: 'removed' };
  }
  return { owner: `${kind} ${newName}`, change: 'moved' };
};

const byteIn = (
  kind: ListKind,
  name: string,
  before: KnownRequest,
  now: KnownRequest,
): number | null => {
  const [oldText, newText] = [before, now].map(({ shape, sent }) => {
    const text = sent && memberText(sent, kind, name);
    return text !== undefined && shapeDigest(text) === shape[`${kind} ${name}`] ? text : undefined;
  });
  return oldText === undefined || newText === undefined
    ? null
    : firstDifference(Buffer.from(oldText), Buffer.from(newText));
};

/** Returns the offset of the first different byte; for equal buffers, their length. */
export const firstDifference = (a: Uint8Array, b: Uint8Array): number => {
  const shared = Math.min(a.length, b.length);
  let at = 0;
  while (at < shared && a[at] === b[at]) at += 1;
  return at;
};
