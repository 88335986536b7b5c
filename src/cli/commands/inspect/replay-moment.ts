/** Where a replay begins, as people say it: a share of the log, so long after its beginning, or a time. */
import { UsageError } from '../../../protocol/errors.js';

export type Moment =
  /** From 0 to 1. */
  | { readonly kind: 'share'; readonly share: number }
  /** Milliseconds after the beginning. */
  | { readonly kind: 'after'; readonly ms: number }
  /** Of the day on which the log has it first. */
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

export const parseMoment = (text: string): Moment => {
  const given = text.trim().toLowerCase();
  const percent = /^(\d{1,3}(?:\.\d{1,3})?)\s?%$/.exec(given)?.[1];
  if (percent !== undefined && Number(percent) <= 100) {
    return { kind: 'share', share: Number(percent) / 100 };
  }
  if (/^(?:\d{1,6}(?:\.\d{1,3})?[smhd]\s?)+$/.test(given)) {
    const parts = [...given.matchAll(/([\d.]+)([smhd])/g)];
    const ms = parts.reduce(
      (sum, [, many, unit = '']) => sum + Number(many) * (UNITS[unit] ?? 0),
      0,
    );
    return { kind: 'after', ms };
  }
  const [, hours, minutes, seconds = '0'] = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(given) ?? [];
  if (hours !== undefined && Number(hours) < 24 && Number(minutes) < 60 && Number(seconds) < 60) {
    const clock = { hours: Number(hours), minutes: Number(minutes), seconds: Number(seconds) };
    return { kind: 'clock', ...clock };
  }
  // As `skein logs` prints it, in the time zone of whoever reads it.
  const time = /^\d{4}-\d{2}-\d{2}/.test(given)
    ? Date.parse(text.trim().replace(' ', 'T'))
    : Number.NaN;
  if (Number.isFinite(time)) return { kind: 'at', time };
  throw new UsageError(
    `"${text.slice(0, 40)}" is no moment of a log: give a share (40%), a time after its beginning (90s, 1h30m), or a time (14:05, 2026-05-01 14:05:30).`,
  );
};

/** By the times of a log, which grow. */
export const timeOfMoment = (
  moment: Exclude<Moment, { readonly kind: 'share' }>,
  times: Float64Array,
): number => {
  const start = times[0] ?? 0;
  if (moment.kind === 'at') return moment.time;
  if (moment.kind === 'after') return start + moment.ms;
  const { hours, minutes, seconds } = moment;
  const time = new Date(start);
  time.setHours(hours, minutes, seconds, 999);
  // Before its beginning: then the next day is meant, if it went on until then.
  if (time.getTime() < start) time.setDate(time.getDate() + 1);
  return time.getTime();
};
