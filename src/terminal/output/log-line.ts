/** Formats a line of a log that several processes of a swarm write: when, where, and a sentence. */
export const logLine = (
  time: string,
  source: Readonly<Record<string, string>>,
  sentence: string,
): string => {
  const names = Object.entries(source).map(([key, value]) => `${key}=${value}`);
  return `${[time, ...names].join(' ')} ${sentence.replaceAll('\n', '\n  ')}\n`;
};
