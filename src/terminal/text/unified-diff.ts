/** Line diff of two texts in hunks with context lines. Bounded in work. */

export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added' | 'hunk';
  readonly text: string;
}

const CONTEXT_LINES = 3;
/** Texts that differ in more lines are shown as replaced as a whole. */
const MAX_DIFFERENCES = 400;

export const unifiedDiff = (before: string, after: string): readonly DiffLine[] => {
  const [old, now] = [linesOf(before), linesOf(after)];
  return inHunks(edits(old, now));
};

const linesOf = (text: string): readonly string[] => {
  if (text === '') return [];
  const lines = text.split('\n');
  return lines.at(-1) === ''
    ? lines.slice(0, -1)
    : [...lines.slice(0, -1), `${lines.at(-1)} (no newline at the end)`];
};

type Edit = DiffLine & { readonly kind: 'same' | 'removed' | 'added' };

const edits = (old: readonly string[], now: readonly string[]): readonly Edit[] => {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  ) {
    end += 1;
  }
  const same = (lines: readonly string[]) => lines.map((text): Edit => ({ kind: 'same', text }));
  const middle = shortest(old.slice(start, old.length - end), now.slice(start, now.length - end));
  return [
    ...same(old.slice(0, start)),
    ...middle,
    ...same(end === 0 ? [] : old.slice(old.length - end)),
  ];
};

/** Finds the shortest edit script with the algorithm of Myers. */
const shortest = (old: readonly string[], now: readonly string[]): readonly Edit[] => {
  const maxCount = Math.min(old.length + now.length, MAX_DIFFERENCES);
  const reach = new Map<number, number>([[1, 0]]);
  const steps: ReadonlyMap<number, number>[] = [];
  for (let count = 0; count <= maxCount; count += 1) {
    steps.push(new Map(reach));
    for (let line = -count; line <= count; line += 2) {
      const down = line === -count || (line !== count && at(reach, line - 1) < at(reach, line + 1));
      let x = down ? at(reach, line + 1) : at(reach, line - 1) + 1;
      while (x < old.length && x - line < now.length && old[x] === now[x - line]) x += 1;
      reach.set(line, x);
      if (x >= old.length && x - line >= now.length) return walkBack(old, now, steps);
    }
  }
  return [
    ...old.map((text): Edit => ({ kind: 'removed', text })),
    ...now.map((text): Edit => ({ kind: 'added', text })),
  ];
};

const at = (reach: ReadonlyMap<number, number>, line: number): number => reach.get(line) ?? -1;

const walkBack = (
  old: readonly string[],
  now: readonly string[],
  steps: readonly ReadonlyMap<number, number>[],
): readonly Edit[] => {
  const found: Edit[] = [];
  let [x, y] = [old.length, now.length];
  for (let count = steps.length - 1; count >= 0; count -= 1) {
    const reach = steps[count] ?? new Map<number, number>();
    const line = x - y;
    const down = line === -count || (line !== count && at(reach, line - 1) < at(reach, line + 1));
    const before = down ? line + 1 : line - 1;
    const [px, py] = [at(reach, before), at(reach, before) - before];
    while (x > px && y > py && x > 0 && y > 0) {
      found.push({ kind: 'same', text: old[x - 1] ?? '' });
      x -= 1;
      y -= 1;
    }
    if (count === 0) break;
    if (down) found.push({ kind: 'added', text: now[y - 1] ?? '' });
    else found.push({ kind: 'removed', text: old[x - 1] ?? '' });
    [x, y] = [px, py];
  }
  return found.reverse();
};

const inHunks = (all: readonly Edit[]): readonly DiffLine[] => {
  const shown = new Set<number>();
  for (const [index, { kind }] of all.entries()) {
    if (kind === 'same') continue;
    for (let lineIndex = index - CONTEXT_LINES; lineIndex <= index + CONTEXT_LINES; lineIndex += 1)
      shown.add(lineIndex);
  }
  const lines: DiffLine[] = [];
  let [oldLine, newLine] = [1, 1];
  for (const [index, edit] of all.entries()) {
    if (shown.has(index)) {
      if (!shown.has(index - 1) || index === 0) {
        lines.push({ kind: 'hunk', text: `@@ -${oldLine} +${newLine} @@` });
      }
      lines.push(edit);
    }
    if (edit.kind !== 'added') oldLine += 1;
    if (edit.kind !== 'removed') newLine += 1;
  }
  return lines;
};
