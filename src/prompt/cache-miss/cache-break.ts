/**
 * Says why a server did not read a prompt from its cache again: what changed between two requests,
 * what of it was declared, and, when nothing of ours changed, whether the cache was simply too old.
 */
import type { CacheCause, Change } from '../../protocol/model/cache-causes.js';
import {
  digestOf,
  type Listed,
  namesIn,
  type RequestShape,
  type SentHead,
  textOf,
} from './request-shape.js';

/** A drop counts when it is more than both: a twentieth of what was cached, and so many tokens. */
const SMALLEST_SHARE = 20;
const SMALLEST_DROP = 2_000;

/** `cached` is what the request before had left in the cache, `read` what this one read of it. */
export const isBreak = (cached: number, read: number): boolean => {
  const drop = cached - read;
  return drop > SMALLEST_DROP && drop * SMALLEST_SHARE > cached;
};

export interface Difference {
  readonly cause: CacheCause;
  readonly owner: string;
  readonly change: Change;
  /** Where in the owner's text; null when only its digest was kept. */
  readonly byte: number | null;
}

/**
 * A request as it is known: the head itself may be gone with its process. One that was kept elsewhere is
 * believed as far as its digests are those of the shape.
 */
export interface KnownRequest {
  readonly shape: RequestShape;
  readonly sent?: SentHead | undefined;
}

/** Ordered as a server renders a prompt; marks last, because they alone change no word of it. */
export const differencesOf = (before: KnownRequest, now: KnownRequest): readonly Difference[] => {
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
): Difference | undefined => {
  const [was = 'none', is = 'none'] = [before[name], now[name]];
  if (was === is) return undefined;
  const owner = `${name.replace(/^field /, '')} ${was} → ${is}`;
  const byte = cause === 'marks' ? null : firstDifference(Buffer.from(was), Buffer.from(is));
  return { cause, owner, change: 'changed', byte };
};

/** The first member that is not what and where it was. */
const listDifference = (
  kind: Listed,
  cause: CacheCause,
  before: KnownRequest,
  now: KnownRequest,
): Difference | undefined => {
  const [old, names] = [namesIn(before.shape, kind), namesIn(now.shape, kind)];
  const digest = ({ shape }: KnownRequest, name: string) => shape[`${kind} ${name}`];
  for (let index = 0; index < Math.max(old.length, names.length); index += 1) {
    const [was, is] = [old[index], names[index]];
    if (was !== is) return { cause, byte: 0, ...misplaced(kind, old, names, index) };
    if (is === undefined || digest(before, is) === digest(now, is)) continue;
    const byte = byteIn(kind, is, before, now);
    return { cause, owner: `${kind} ${is}`, change: 'changed', byte };
  }
  return undefined;
};

const misplaced = (
  kind: Listed,
  old: readonly string[],
  names: readonly string[],
  index: number,
): Pick<Difference, 'owner' | 'change'> => {
  const [was, is] = [old[index], names[index]];
  if (is !== undefined && !old.includes(is)) return { owner: `${kind} ${is}`, change: 'added' };
  if (was !== undefined && !names.includes(was)) {
    return { owner: `${kind} ${was}`, change: 'removed' };
  }
  return { owner: `${kind} ${is}`, change: 'moved' };
};

const byteIn = (
  kind: Listed,
  name: string,
  before: KnownRequest,
  now: KnownRequest,
): number | null => {
  const [was, is] = [before, now].map(({ shape, sent }) => {
    const text = sent && textOf(sent, kind, name);
    return text !== undefined && digestOf(text) === shape[`${kind} ${name}`] ? text : undefined;
  });
  return was === undefined || is === undefined
    ? null
    : firstDifference(Buffer.from(was), Buffer.from(is));
};

/** Equal buffers differ where they end. */
export const firstDifference = (one: Uint8Array, other: Uint8Array): number => {
  const shared = Math.min(one.length, other.length);
  let at = 0;
  while (at < shared && one[at] === other[at]) at += 1;
  return at;
};
