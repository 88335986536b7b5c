/** Figures and columns made fit for people, in letters that take a column each. */
export const money = (usd: number | null): string => {
  if (usd === null) return 'unknown';
  return `$${usd.toFixed(Math.abs(usd) < 1 ? 4 : 2)}`;
};

export const count = (value: number): string => value.toLocaleString('en-US');

/** `950`, `12.3k`, `1.2M`. */
export const shortCount = (value: number): string => {
  if (value < 1_000) return String(value);
  const [scaled, unit] = value < 999_950 ? [value / 1_000, 'k'] : [value / 1_000_000, 'M'];
  return `${scaled < 99.95 ? scaled.toFixed(1) : Math.round(scaled)}${unit}`;
};

export const plural = (value: number, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

/** `12.5 %`; one digit behind the point, and none where there is nothing behind it. */
export const percent = (value: number): string =>
  `${Number.isInteger(value) ? value : value.toFixed(1)} %`;

/** Words in lines of at most so many columns; a word that is longer has a line of its own. */
export const wrapped = (text: string, width: number, indent = ''): readonly string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(`${indent}${line}`);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, `${indent}${line}`];
};

export const bytes = (value: number): string => {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  const step = value < 1 ? 0 : Math.min(4, Math.floor(Math.log10(value) / 3));
  const shown = value / 1000 ** step;
  return `${step === 0 || shown >= 100 ? Math.round(shown) : shown.toFixed(1)} ${units[step]}`;
};

/** Columns side by side, each as wide as its widest cell; the last one is left ragged. */
export const columns = (rows: readonly (readonly string[])[], right: readonly number[] = []) => {
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

/** Names with figures: side by side where there is room for it, else a figure a line. */
export const figureTable = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly string[] => {
  const right = head.slice(1).map((_, at) => at + 1);
  const table = columns([head, ...rows], right).split('\n');
  if (table.every((line) => line.length <= width)) return table;
  return rows.flatMap(([name = '', ...figures], index) => [
    ...(index > 0 ? [''] : []),
    name,
    ...columns(
      figures.map((figure, at) => [`  ${head[at + 1] ?? ''}`, figure]),
      [1],
    ).split('\n'),
  ]);
};
