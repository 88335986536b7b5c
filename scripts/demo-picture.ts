/**
 * Draws docs/images/demo.svg from a run of the demonstration: `npm run picture`.
 * The picture holds the text of the run, so a test can compare the two.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const PICTURE = 'docs/images/demo.svg';

const LINE_HEIGHT = 18;
const CHARACTER_WIDTH = 7.8;
const MARGIN = 20;
const NO_BREAK_SPACE = '\u00a0';
const MAX_COLUMNS = 120;

const COLOURS: readonly (readonly [RegExp, string])[] = [
  [/^●/, '#e6edf3'],
  [/^✗/, '#ff7b72'],
  [/^✓| ✓ /, '#7ee787'],
  [/ \? /, '#f2cc60'],
  [/ ✉ /, '#d2a8ff'],
  [/ ▸ /, '#79c0ff'],
  [/saved/, '#7ee787'],
];

/** Spaces become no-break spaces, because renderers collapse the others. */
const escapeXml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(' ', NO_BREAK_SPACE);

const colourOf = (line: string): string =>
  COLOURS.find(([pattern]) => pattern.test(line))?.[1] ?? '#9da7b3';

/** Returns an SVG that shows the lines of a terminal. */
const drawPicture = (output: string): string => {
  const lines = output.trimEnd().split('\n');
  const columns = Math.min(MAX_COLUMNS, Math.max(...lines.map((line) => line.length)));
  const width = Math.round(columns * CHARACTER_WIDTH + 2 * MARGIN);
  const height = lines.length * LINE_HEIGHT + 2 * MARGIN;
  const rows = lines.map((line, at) => {
    const y = MARGIN + (at + 1) * LINE_HEIGHT - 4;
    return `<text x="${MARGIN}" y="${y}" fill="${colourOf(line)}">${escapeXml(line)}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13">`,
    '<title>skein demo: a swarm fixes a failing test</title>',
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    ...rows,
    '</svg>',
    '',
  ].join('\n');
};

/** Returns the lines of text in a picture. */
export const textOfPicture = (svg: string): string =>
  [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)]
    .map(([, text = '']) =>
      text
        .replaceAll(NO_BREAK_SPACE, ' ')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&amp;', '&'),
    )
    .join('\n');

/** Returns the sorted lines with masked paths, process ids and figures. The order of agents side by side varies. */
export const maskedLines = (text: string): readonly string[] =>
  text
    .trimEnd()
    .replace(/\/\S*skein-demo-\S+/g, '<folder>')
    .replace(/\d[\d,.]*/g, '0')
    .replace(/ +/g, ' ')
    .split('\n')
    .sort();

const draw = (): void => {
  const home = mkdtempSync(join(tmpdir(), 'demo-home-'));
  try {
    const { PATH } = process.env;
    const output = execFileSync(process.execPath, [resolve('dist/skein.cjs'), 'demo'], {
      env: { PATH, HOME: home, NO_COLOR: '1', LANG: 'C.UTF-8' },
      encoding: 'utf8',
    });
    mkdirSync('docs/images', { recursive: true });
    const folder = /\/\S*skein-demo-[^/\s]+/.exec(output)?.[0] ?? '';
    writeFileSync(PICTURE, drawPicture(output.replaceAll(folder, '/tmp/skein-demo-x')));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
};

/** Reads the picture as it is in the repository. */
export const readPicture = (): string => readFileSync(PICTURE, 'utf8');

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) draw();
