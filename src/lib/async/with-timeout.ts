/** Rejects if the promise takes longer than `limitMs`. The work itself is not cancelled. */
export const withTimeout = async <Result>(
  work: Promise<Result>,
  limitMs: number,
): Promise<Result> => {
  let limit: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    limit = setTimeout(() => reject(new Error('no answer in time')), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(limit);
  }
};
