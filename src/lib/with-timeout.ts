/** Rejects when the work takes longer; nobody waits for it then. */
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
