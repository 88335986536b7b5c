/** Ids as people can type and compare them. */

const SHORTEST_ID = 7;

/** The shortest beginnings that no two of them share. */
export const shortIds = (ids: readonly string[]): ReadonlyMap<string, string> => {
  const sorted = ids.toSorted();
  return new Map(
    sorted.map((id, at) => {
      const shared = Math.max(common(id, sorted[at - 1]), common(id, sorted[at + 1]));
      return [id, id.slice(0, Math.max(SHORTEST_ID, shared + 1))];
    }),
  );
};

const common = (one: string, other = ''): number => {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
};
