/** Spans of time and sizes as a page says them. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `350 ms`, `12.4 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`: the two largest units that there are. */
export const duration = (ms: number): string => {
  if (!(ms > 0)) return '0 s';
  if (ms < SECOND) return `${Math.max(1, Math.round(ms))} ms`;
  if (ms < MINUTE) return `${Number((ms / SECOND).toFixed(1))} s`;
  if (ms < HOUR) return twoOf(ms, MINUTE, 'min', SECOND, 's');
  if (ms < 2 * DAY) return twoOf(ms, HOUR, 'h', MINUTE, 'min');
  return twoOf(ms, DAY, 'd', HOUR, 'h');
};

const twoOf = (ms: number, large: number, name: string, small: number, of: string): string => {
  const whole = Math.floor(ms / large);
  const rest = Math.floor((ms % large) / small);
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${of}`;
};

const STEPS: readonly number[] = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 7, 14, 28, 91, 365].map((days) => days * DAY),
];

/** The round number of milliseconds that divides a time into at most `most` parts. */
export const timeStep = (ms: number, most: number): number =>
  STEPS.find((step) => ms / step <= most) ?? ms / most;

/** The same of any figure: 1, 2 or 5 and zeros. */
export const roundStep = (value: number, most: number): number => {
  if (!(value > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(value / most));
  return ([1, 2, 5, 10].find((step) => value / (step * unit) <= most) ?? 10) * unit;
};

/** Of a line of a grid: `$0.05`, `$200`. */
export const roundMoney = (usd: number): string => `$${ROUND.format(usd)}`;

const ROUND = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });

/** `950`, `12.3K`, `1.2M`. */
export const shortCount = (value: number): string => COMPACT.format(value);

const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
