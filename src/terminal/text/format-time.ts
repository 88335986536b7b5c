/** Formats times and ages for people, and parses ages. */
import { UsageError } from '../../protocol/skein-error.js';
import { plural } from './format-number.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const DAY_MS = 24 * HOUR;

/** `just now`, `3 hours ago`, `yesterday`; a date if `then` is 31 days ago or more, or in the future. */
export const formatAgo = (then: number, now: number): string => {
  const passed = now - then;
  if (!(passed >= 0 && passed < 31 * DAY_MS)) return dayOf(then);
  if (passed < MINUTE) return 'just now';
  if (passed < HOUR) return `${plural(Math.floor(passed / MINUTE), 'minute')} ago`;
  if (passed < DAY_MS) return `${plural(Math.floor(passed / HOUR), 'hour')} ago`;
  if (passed < 2 * DAY_MS) return 'yesterday';
  return `${Math.floor(passed / DAY_MS)} days ago`;
};

const two = (value: number): string => String(value).padStart(2, '0');

const dayOf = (ts: number): string => {
  const date = new Date(ts);
  if (Number.isNaN(date.getTime())) return 'at an unknown time';
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
};

/** `2026-01-31 13:05:09`, in the local time zone. */
export const formatTime = (ts: number): string => {
  const date = new Date(ts);
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${dayOf(ts)} ${time}`;
};

/** `350 ms`, `12.4 s`. */
export const formatSeconds = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

const MAX_DAYS = 9_999;

/** `42s`, `5m`, `3h`, `9d`; `>9999d` for longer ages, `?` for NaN. */
export const formatAge = (ms: number): string => {
  if (Number.isNaN(ms)) return '?';
  if (ms > MAX_DAYS * DAY_MS) return `>${MAX_DAYS}d`;
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 100) return `${seconds}s`;
  if (seconds < 5_940) return `${Math.round(seconds / 60)}m`;
  return seconds < 48 * 3_600
    ? `${Math.round(seconds / 3_600)}h`
    : `${Math.round(seconds / 86_400)}d`;
};

/** Parses `12h`, `30d` or `2w` and returns milliseconds. Throws UsageError. */
export const parseAge = (text: string): number => {
  const [, amount, unit] = /^(\d{1,5})\s?([hdw])$/.exec(text.trim()) ?? [];
  const length = { h: HOUR, d: DAY_MS, w: 7 * DAY_MS }[unit ?? ''];
  if (amount === undefined || length === undefined) {
    throw new UsageError(
      `"${text.slice(0, 40)}" is not an age: give hours, days or weeks, as in 12h, 30d or 2w.`,
    );
  }
  return Number(amount) * length;
};

/** Returns null if `ts` is not a valid date. */
export const formatIsoTime = (ts: number): string | null => {
  const date = new Date(ts);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
};
