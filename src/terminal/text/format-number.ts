/** Formats numbers for people: counts, money, percentages and sizes. */

/** Formats US dollars: two decimals from one dollar up, else four. Null: 'unknown'. */
export const formatMoney = (usd: number | null): string => {
  if (usd === null) return 'unknown';
  return `$${usd.toFixed(Math.abs(usd) < 1 ? 4 : 2)}`;
};

/** `1,234,567`. */
export const formatNumber = (value: number): string => value.toLocaleString('en-US');

/** `950`, `12.3k`, `1.2M`. */
export const formatShortNumber = (value: number): string => {
  if (value < 1_000) return String(value);
  const [scaled, unit] = value < 999_950 ? [value / 1_000, 'k'] : [value / 1_000_000, 'M'];
  return `${scaled < 99.95 ? scaled.toFixed(1) : Math.round(scaled)}${unit}`;
};

/** `1 turn`, `2 turns`. */
export const plural = (value: number, noun: string): string =>
  `${formatNumber(value)} ${noun}${value === 1 ? '' : 's'}`;

/** `12.5 %`, or `12 %` for an integer. */
export const formatPercent = (value: number): string =>
  `${Number.isInteger(value) ? value : value.toFixed(1)} %`;

/** `950 bytes`, `12.3 KB`, `123 MB`: powers of 1,000. */
export const formatBytes = (value: number): string => {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  const step = value < 1 ? 0 : Math.min(4, Math.floor(Math.log10(value) / 3));
  const shown = value / 1000 ** step;
  return `${step === 0 || shown >= 100 ? Math.round(shown) : shown.toFixed(1)} ${units[step]}`;
};
