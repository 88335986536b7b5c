/** Tables of names and figures in aligned columns, for characters of one column each. */

/** Joins rows into text, each column as wide as its widest cell. `right`: indexes of right-aligned columns. */
export const alignColumns = (
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
) => {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return right.includes(column) ? cell.padStart(width) : cell.padEnd(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

/** Returns a table of names with figures. If it is wider than `width`, each figure gets its own line. */
export const figureTable = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly string[] => {
  const right = head.slice(1).map((_, at) => at + 1);
  const table = alignColumns([head, ...rows], right).split('\n');
  if (table.every((line) => line.length <= width)) return table;
  return rows.flatMap(([name = '', ...figures], index) => [
    ...(index > 0 ? [''] : []),
    name,
    ...alignColumns(
      figures.map((figure, at) => [`  ${head[at + 1] ?? ''}`, figure]),
      [1],
    ).split('\n'),
  ]);
};
