/** Formats the report as a table for people or as JSON for programs. */
import { cpus } from 'node:os';
import type { Calibrated } from './calibrate.js';
import { judge, type Row } from './row.js';

export const machineFacts = () => ({
  date: new Date().toISOString(),
  node: process.version,
  cores: cpus().length,
  cpu: cpus()[0]?.model ?? 'unknown',
});

export const asJson = (rows: readonly Row[], sizes: Calibrated['sizes']): string => {
  const judged = rows.map((row) => {
    const { floor, ours, ...verdict } = judge(row);
    return { ...row, median: { floor, ours }, ...verdict };
  });
  return JSON.stringify({ ...machineFacts(), requestBytes: sizes, rows: judged }, null, 2);
};

const HEADINGS = ['', 'floor', 'skein', '', 'ratio', '(range)', 'target', ''];

export const asTable = (rows: readonly Row[], sizes: Calibrated['sizes']): string => {
  const { date, node, cores, cpu } = machineFacts();
  const lines = [HEADINGS, ...rows.map(cells)];
  const widths = HEADINGS.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const aligned = lines.map((line) =>
    line
      .map((cell, column) =>
        TEXT_COLUMNS.has(column)
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  const [first, last] = [0, 1].map((at) => `${sizes.floor[at]} and ${sizes.ours[at]}`);
  return [
    `${date.slice(0, 10)}, Node ${node}, ${cores} cores, ${cpu}`,
    `bytes of floor and skein: first request ${first}, last of the short loop ${last}`,
    '',
    ...aligned,
  ].join('\n');
};

/** Columns with text: name, unit and verdict. */
const TEXT_COLUMNS: ReadonlySet<number> = new Set([0, 3, 7]);

/** Formats a figure with three digits and without an exponent. */
const figure = (value: number): string =>
  Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);

const cells = (row: Row): string[] => {
  const { floor, ours, ratio, lowest, highest, verdict } = judge(row);
  return [
    row.what,
    figure(floor),
    figure(ours),
    row.unit,
    ratio.toFixed(2),
    `(${lowest.toFixed(2)}–${highest.toFixed(2)})`,
    row.target === undefined ? '' : `≤ ${row.target.toFixed(2)}`,
    verdict,
  ];
};
