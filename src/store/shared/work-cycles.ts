/** Finds out whether something waits for itself, however many steps away. */

/** The way from an id back to it, both ends included; undefined when there is none. */
export const cycleThrough = (
  id: string,
  waitsFor: (id: string) => readonly string[],
): readonly string[] | undefined => {
  /** By each that was found: the one that led to it. */
  const cameFrom = new Map<string, string>();
  const open = [id];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const next of waitsFor(at)) {
      if (next === id) return wayTo(at, id, cameFrom);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, at);
      open.push(next);
    }
  }
  return undefined;
};

const wayTo = (
  last: string,
  id: string,
  cameFrom: ReadonlyMap<string, string>,
): readonly string[] => {
  const way = [id];
  for (let at: string | undefined = last; at !== undefined && at !== id; at = cameFrom.get(at)) {
    way.unshift(at);
  }
  return [id, ...way];
};
