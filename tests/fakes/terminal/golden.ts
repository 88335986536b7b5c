/** Golden files of screens: replaces text that differs from run to run with fixed text. */
import { expect } from 'vitest';

const CHANGING: readonly (readonly [RegExp, string])[] = [
  [/\bs_[a-z0-9]{16}\b/g, 's_0000000000000000'],
  [/\ba_[a-z0-9]{5,16}\b/g, 'a_000000'],
  [/\bpid \d+/g, 'pid 0'],
  [/\bq_[a-z0-9]{6,16}\b/g, 'q_000000'],
  // The path may be too long for the line.
  [/working in\s+/g, 'working in '],
  [/\/\S*scene-\w+/g, '/scene'],
  [/(?:word ?){3,}/g, 'word …'],
  [/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, '⠋'],
  [/\b\d+(?:\.\d)?s\b(?! of)/g, '0s'],
  [/\$\d+\.\d+/g, '$0.0000'],
  [/(context|cache) \d+(?:\.\d)? %/g, '$1 0 %'],
  [/Skein \d+\.\d+\.\d+/g, 'Skein 0.0.0'],
];

export const steady = (text: string): string =>
  CHANGING.reduce((all, [pattern, word]) => all.replaceAll(pattern, word), text);

/**
 * `npx vitest run <file> -u` rewrites the golden files (arguments in this order). Review the diff.
 */
export const expectGolden = (text: string, name: string): Promise<void> =>
  expect(`${steady(text)}\n`).toMatchFileSnapshot(`../../journeys/screens/golden/${name}.txt`);
