/** Lets the writers of one path take turns, so that two agents of a process cannot both win. */

const last = new Map<string, Promise<unknown>>();

export const takeTurn = async <Result>(
  path: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  const before = last.get(path) ?? Promise.resolve();
  const mine = before.then(work, work);
  last.set(path, mine);
  try {
    return await mine;
  } finally {
    if (last.get(path) === mine) last.delete(path);
  }
};
