/** Times as people say them. */
import { UsageError } from '../../protocol/errors.js';
import { plural } from './format-numbers.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** `3 hours ago`; a date once it is more than a month. */
export const ago = (then: number, now: number): string => {
  const passed = now - then;
  if (!(passed >= 0 && passed < 31 * DAY)) return dayOf(then);
  if (passed < MINUTE) return 'just now';
  if (passed < HOUR) return `${plural(Math.floor(passed / MINUTE), 'minute')} ago`;
  if (passed < DAY) return `${plural(Math.floor(passed / HOUR), 'hour')} ago`;
  if (passed < 2 * DAY) return 'yesterday';
  return `${Math.floor(passed / DAY)} days ago`;
};

const two = (value: number): string => String(value).padStart(2, '0');

const dayOf = (ts: number): string => {
  const date = new Date(ts);
  if (Number.isNaN(date.getTime())) return 'at an unknown time';
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
};

/** In the time zone of whoever reads it, to the second. */
export const clockTime = (ts: number): string => {
  const date = new Date(ts);
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${dayOf(ts)} ${time}`;
};

export const seconds = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

const MOST_DAYS = 9_999;

/** `42s`, `5m`, `3h`, `9d`; `>9999d` for what no clock has told, `?` for no time at all. */
export const shortAge = (ms: number): string => {
  if (Number.isNaN(ms)) return '?';
  if (ms > MOST_DAYS * DAY) return `>${MOST_DAYS}d`;
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 100) return `${seconds}s`;
  if (seconds < 5_940) return `${Math.round(seconds / 60)}m`;
  return seconds < 48 * 3_600
    ? `${Math.round(seconds / 3_600)}h`
    : `${Math.round(seconds / 86_400)}d`;
};

/** `12h`, `30d` or `2w`, in milliseconds. */
export const parseAge = (text: string): number => {
  const [, amount, unit] = /^(\d{1,5})\s?([hdw])$/.exec(text.trim()) ?? [];
  const length = { h: HOUR, d: DAY, w: 7 * DAY }[unit ?? ''];
  if (amount === undefined || length === undefined) {
    throw new UsageError(
      `"${text.slice(0, 40)}" is not an age: give hours, days or weeks, as in 12h, 30d or 2w.`,
    );
  }
  return Number(amount) * length;
};

export const isoTime = (ts: number): string | null => {
  const date = new Date(ts);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
};
