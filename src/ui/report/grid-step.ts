/** Steps between the grid lines of a chart: round numbers. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Milliseconds. */
const TIME_STEPS: readonly number[] = [
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

/** Returns the round number of milliseconds that divides a time into at most `maxParts` parts. */
export const timeStep = (ms: number, maxParts: number): number =>
  TIME_STEPS.find((step) => ms / step <= maxParts) ?? ms / maxParts;

/** Returns 1, 2 or 5 times a power of ten that divides `value` into at most `maxParts` parts. */
export const gridStep = (value: number, maxParts: number): number => {
  if (!(value > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(value / maxParts));
  return ([1, 2, 5, 10].find((step) => value / (step * unit) <= maxParts) ?? 10) * unit;
};
