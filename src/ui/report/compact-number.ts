/** Formats numbers in as few characters as possible, for charts and tables of the page. */

/** `$0.05`, `$200`: three significant digits at most. */
export const compactMoney = (usd: number): string => `$${ROUND.format(usd)}`;

const ROUND = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });

/** `950`, `12.3K`, `1.2M`. */
export const compactNumber = (value: number): string => COMPACT.format(value);

const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
