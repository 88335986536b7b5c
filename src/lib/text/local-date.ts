/** Returns the date in this machine's time zone as YYYY-MM-DD, independent of the locale. */
export const localDate = (ms: number): string => {
  const date = new Date(ms);
  const padded = (part: number) => String(part).padStart(2, '0');
  return `${date.getFullYear()}-${padded(date.getMonth() + 1)}-${padded(date.getDate())}`;
};
