/** Rejects if the promise takes longer than `limitMs`. The work itself is not cancelled. */
export const withTimeout = async <Result>(
  work: Promise<Result>,
  limitMs: number,
): Promise<Result> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), limitMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
};
