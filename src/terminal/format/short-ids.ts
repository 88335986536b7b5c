/** Shortens ids so that people can type and compare them. */

const MIN_ID_LENGTH = 7;

/** Maps each id to its shortest unique prefix of at least `MIN_ID_LENGTH` characters. */
export const shortIds = (ids: readonly string[]): ReadonlyMap<string, string> => {
  const sorted = ids.toSorted();
  return new Map(
    sorted.map((id, at) => {
      const shared = Math.max(sharedLength(id, sorted[at - 1]), sharedLength(id, sorted[at + 1]));
      return [id, id.slice(0, Math.max(MIN_ID_LENGTH, shared + 1))];
    }),
  );
};

const sharedLength = (id: string, other = ''): number => {
  let at = 0;
  while (at < id.length && id[at] === other[at]) at += 1;
  return at;
};
