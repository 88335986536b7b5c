/** Polls until `ask` returns a result. Throws after 30 s. */
export const eventually = async <Result>(
  what: string,
  ask: () => Result | false | undefined,
): Promise<Result> => {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const answer = ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`Never true: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
