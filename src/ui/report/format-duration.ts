/** Formats a duration in its two largest units. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `350 ms`, `12.4 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export const formatDuration = (ms: number): string => {
  if (!(ms > 0)) return '0 s';
  if (ms < SECOND) return `${Math.max(1, Math.round(ms))} ms`;
  if (ms < MINUTE) return `${Number((ms / SECOND).toFixed(1))} s`;
  if (ms < HOUR) return twoUnits(ms, MINUTE, 'min', SECOND, 's');
  if (ms < 2 * DAY) return twoUnits(ms, HOUR, 'h', MINUTE, 'min');
  return twoUnits(ms, DAY, 'd', HOUR, 'h');
};

const twoUnits = (
  ms: number,
  large: number,
  largeName: string,
  small: number,
  smallName: string,
): string => {
  const whole = Math.floor(ms / large);
  const rest = Math.floor((ms % large) / small);
  return rest === 0 ? `${whole} ${largeName}` : `${whole} ${largeName} ${rest} ${smallName}`;
};
