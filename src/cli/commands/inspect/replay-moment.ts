/** Replay moment: a share of the log, a duration after its start, a time of day, or a date. */
import { UsageError } from '../../../protocol/skein-error.js';

export type ReplayMoment =
  /** Share of the log, from 0 to 1. */
  | { readonly kind: 'share'; readonly share: number }
  /** Milliseconds after the start. */
  | { readonly kind: 'after'; readonly ms: number }
  /** Time of day, on the first day of the log that reaches it. */
  | {
      readonly kind: 'clock';
      readonly hours: number;
      readonly minutes: number;
      readonly seconds: number;
    }
  /** Milliseconds since 1970. */
  | { readonly kind: 'at'; readonly time: number };

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Throws UsageError if the text is not a moment. */
export const parseMoment = (text: string): ReplayMoment => {
  const input = text.trim().toLowerCase();
  const percent = /^(\d{1,3}(?:\.\d{1,3})?)\s?%$/.exec(input)?.[1];
  if (percent !== undefined && Number(percent) <= 100) {
    return { kind: 'share', share: Number(percent) / 100 };
  }
  if (/^(?:\d{1,6}(?:\.\d{1,3})?[smhd]\s?)+$/.test(input)) {
    const parts = [...input.matchAll(/([\d.]+)([smhd])/g)];
    const ms = parts.reduce(
      (sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0),
      0,
    );
    return { kind: 'after', ms };
  }
  const [, hours, minutes, seconds = '0'] = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(input) ?? [];
  if (hours !== undefined && Number(hours) < 24 && Number(minutes) < 60 && Number(seconds) < 60) {
    const clock = { hours: Number(hours), minutes: Number(minutes), seconds: Number(seconds) };
    return { kind: 'clock', ...clock };
  }
  // Date and time as `skein logs` prints them, in the local time zone.
  const time = /^\d{4}-\d{2}-\d{2}/.test(input)
    ? Date.parse(text.trim().replace(' ', 'T'))
    : Number.NaN;
  if (Number.isFinite(time)) return { kind: 'at', time };
  throw new UsageError(
    `"${text.slice(0, 40)}" is not a moment of a log: give a share (40%), a time after its start (90s, 1h30m), or a time (14:05, 2026-05-01 14:05:30).`,
  );
};

/** Returns the time of a moment in a log whose times are `times`, in ascending order. */
export const timeOfMoment = (
  moment: Exclude<ReplayMoment, { readonly kind: 'share' }>,
  times: Float64Array,
): number => {
  const start = times[0] ?? 0;
  if (moment.kind === 'at') return moment.time;
  if (moment.kind === 'after') return start + moment.ms;
  const { hours, minutes, seconds } = moment;
  const time = new Date(start);
  time.setHours(hours, minutes, seconds, 999);
  // A time of day before the start of the log means the next day.
  if (time.getTime() < start) time.setDate(time.getDate() + 1);
  return time.getTime();
};
