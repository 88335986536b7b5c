/** Lets only so many pieces of work run at once; the others wait for their turn, in order. */
export const limitConcurrency = (most: number) => {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running === most) await new Promise<void>((go) => waiting.push(go));
    else running += 1;
    try {
      return await work();
    } finally {
      // The place goes to the next one as it is.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
};
