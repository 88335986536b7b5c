/** What a rewind would do, for people: the points, the files with their differences, and what stays. */
import { relative, sep } from 'node:path';
import type { PlannedFile } from '../../../actors/checkpoints/rewind-plan.js';
import { contentsAt } from '../../../host/files/file-contents.js';
import type { Blobs, FileState } from '../../../protocol/session/checkpoint.js';
import {
  isBlocking,
  type RewindDesk,
  type RewindPlan,
} from '../../../sdk/sessions/rewind-session.js';
import { columns, plural } from '../../../terminal/text/format-numbers.js';
import { ago } from '../../../terminal/text/format-time.js';
import { exactText, plainText } from '../../../terminal/text/sanitize.js';
import { type DiffLine, diffLines } from '../../../terminal/text/unified-diff.js';

const FILE_LINES = 60;
const ALL_LINES = 600;
const LARGEST_SHOWN = 512 * 1024;
const LONGEST_LINE = 300;
const MOST_FILES = 200;
const MOST_COMMANDS = 10;

export const pointsText = (desk: RewindDesk, now: number): string => {
  const points = desk.points();
  if (points.length === 0) return 'Nothing has been said in this session yet.\n';
  const rows = points.map(({ number, at, text, files }) => [
    `${number}`,
    ago(at, now),
    `${plural(files, 'file')} changed since`,
    plainText(text, 70),
  ]);
  return `${columns(rows, [0])}\n`;
};

/** The whole of a plan, as text to be printed. */
export const planText = (desk: RewindDesk, plan: RewindPlan, coloured: boolean): string => {
  const lines = [headline(plan), ...fileLines(desk, plan, coloured), ...staying(plan)];
  return `${lines.join('\n')}\n`;
};

const headline = ({ point, prompts, conversation, files, undoes }: RewindPlan): string => {
  const what = [
    ...(conversation && prompts.length > 0 ? [plural(prompts.length, 'prompt')] : []),
    ...(conversation && prompts.length === 0 ? ['the conversation'] : []),
    ...(files.length > 0 ? [plural(files.length, 'file')] : []),
  ].join(' and ');
  if (undoes !== undefined) return `Undoing the last rewind: ${what || 'nothing to do'}.`;
  const prompt = point === undefined ? '' : ` (${plainText(point.text, 60)})`;
  return `Back to before prompt ${point?.number ?? 0}${prompt}: ${what || 'nothing to take back'}.`;
};

const fileLines = (desk: RewindDesk, { files }: RewindPlan, coloured: boolean): string[] => {
  const lines: string[] = [];
  let left = ALL_LINES;
  for (const file of files.slice(0, MOST_FILES)) {
    const text = fileText(desk, file, coloured, Math.min(left, FILE_LINES));
    left -= text.length;
    lines.push('', ...text);
  }
  if (files.length > MOST_FILES) {
    lines.push('', `and ${plural(files.length - MOST_FILES, 'more file')}; --json lists them all.`);
  }
  return lines;
};

const fileText = (
  desk: RewindDesk,
  file: PlannedFile,
  coloured: boolean,
  most: number,
): readonly string[] => {
  const name = exactText(shownPath(desk.meta.cwd, file.path));
  const title = paint(1, `${actOf(file)} ${name}${kindsOf(file)}`, coloured);
  const trouble =
    file.why === '' ? [] : [paint(31, `  ${WORDS[file.verdict]}${exactText(file.why)}`, coloured)];
  if (file.verdict === 'refused' || file.verdict === 'lost' || file.verdict === 'damaged') {
    return [title, ...trouble];
  }
  return [title, ...trouble, ...differenceOf(desk.blobs, file, coloured, most)];
};

const WORDS: Readonly<Record<PlannedFile['verdict'], string>> = {
  restore: '',
  lost: 'cannot be brought back: ',
  changed: '',
  unkept: 'what is there cannot be kept: ',
  damaged: 'cannot be brought back: ',
  refused: 'is not touched: ',
};

export const actOf = ({ now, wanted }: Pick<PlannedFile, 'now' | 'wanted'>): string => {
  if (wanted.kind === 'absent') return 'remove';
  return now.kind === 'absent' ? 'bring back' : 'change';
};

const kindsOf = ({ now, wanted }: PlannedFile): string => {
  const modes =
    'mode' in now && 'mode' in wanted && now.mode !== wanted.mode && now.kind !== 'link';
  const mode = modes ? ` (mode ${octal(now)} → ${octal(wanted)})` : '';
  const kind = wanted.kind === 'absent' ? now.kind : wanted.kind;
  return `${kind === 'file' || kind === 'unknown' ? '' : ` (${kind})`}${mode}`;
};

const octal = (state: { readonly mode: number }): string => state.mode.toString(8).padStart(4, '0');

const differenceOf = (
  blobs: Blobs,
  { path, now, wanted }: PlannedFile,
  coloured: boolean,
  most: number,
): readonly string[] => {
  if ('digest' in now && 'digest' in wanted && now.digest === wanted.digest) return [];
  const old = now.kind === 'file' || now.kind === 'link' ? bytesAt(path) : NONE;
  const next = 'digest' in wanted ? blobs.read(wanted.digest) : NONE;
  if (isFolder(now) || isFolder(wanted)) return [];
  if (old === undefined || 'trouble' in next) return ['  (cannot be shown)'];
  if (old.length > LARGEST_SHOWN || next.length > LARGEST_SHOWN) {
    return [`  (large: ${old.length} → ${next.length} bytes)`];
  }
  if (isBinary(old) || isBinary(next)) {
    return [`  (binary: ${old.length} → ${next.length} bytes)`];
  }
  const lines = diffLines(textOf(old), textOf(next));
  const shown = lines.slice(0, Math.max(0, most)).map((line) => diffText(line, coloured));
  const rest = lines.length - shown.length;
  return rest > 0 ? [...shown, `  (${plural(rest, 'more line')})`] : shown;
};

const NONE = new Uint8Array();

const isFolder = ({ kind }: FileState): boolean => kind === 'directory';

const bytesAt = (path: string): Uint8Array | undefined => {
  const found = contentsAt(path, LARGEST_SHOWN * 100);
  return 'bytes' in found ? found.bytes : undefined;
};

const isBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, 8_192).includes(0);

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

const SIGNS = { same: '  ', gone: '- ', new: '+ ', place: '' } as const;
const COLOURS = { same: 0, gone: 31, new: 32, place: 36 } as const;

const diffText = ({ kind, text }: DiffLine, coloured: boolean): string => {
  const short = text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text;
  return `  ${paint(COLOURS[kind], `${SIGNS[kind]}${exactText(short.toWellFormed())}`, coloured)}`;
};

const paint = (code: number, text: string, coloured: boolean): string =>
  coloured && code !== 0 ? `\u001b[${code}m${text}\u001b[0m` : text;

export const shownPath = (cwd: string, path: string): string => {
  const short = relative(cwd, path);
  return short === '' || short.startsWith(`..${sep}`) || short === '..' ? path : short;
};

/** What no rewind takes back, said before anybody agrees to one. */
const staying = ({ irreversible, keptFiles }: RewindPlan): readonly string[] => {
  const { commands, unwatched } = irreversible;
  const lines: string[] = [];
  if (keptFiles.length > 0) {
    lines.push('', `Not put back: ${plural(keptFiles.length, 'file')} changed since.`);
  }
  if (commands.length > 0) {
    lines.push(
      '',
      'Not taken back: what these did beyond files (processes, network, git history), and ignored files:',
      ...commands.slice(0, MOST_COMMANDS).map((command) => `  ${plainText(command, 100)}`),
    );
    const rest = commands.length - MOST_COMMANDS;
    if (rest > 0) lines.push(`  and ${rest} more`);
  }
  if (unwatched.length > 0) {
    const calls = plural(unwatched.length, 'call');
    lines.push('', `Nothing was kept before ${calls}, so what changed there stays.`);
  }
  return lines;
};

/** One line for each file that stands in the way. */
export const obstacles = (desk: RewindDesk, { files }: RewindPlan): readonly string[] =>
  files
    .filter(isBlocking)
    .map(
      ({ path, verdict, why }) =>
        `${exactText(shownPath(desk.meta.cwd, path))}: ${WORDS[verdict]}${exactText(why)}`,
    );
