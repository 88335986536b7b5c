/** Returns the date in this machine's time zone as YYYY-MM-DD, independent of the locale. */
export const localDate = (ms: number): string => {
  const day = new Date(ms);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
};
