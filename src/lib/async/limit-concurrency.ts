/** Returns a function that runs at most `max` tasks at once. Further tasks wait, in order. */
export const limitConcurrency = (max: number) => {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <Result>(task: () => Promise<Result>): Promise<Result> => {
    if (running === max) await new Promise<void>((start) => waiting.push(start));
    else running += 1;
    try {
      return await task();
    } finally {
      // The next task takes over the slot, so `running` does not change.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
};
