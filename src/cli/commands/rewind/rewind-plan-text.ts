/** Rewind plan as text: the prompts to rewind to, files with diffs, and what is not restored. */
import { relative, sep } from 'node:path';
import type { PlannedFile } from '../../../actors/checkpoints/rewind-plan.js';
import { readContents } from '../../../host/files/file-contents.js';
import type { Blobs, FileState } from '../../../protocol/session/checkpoints.js';
import {
  isBlocking,
  type RewindOutcome,
  type RewindPlan,
  type SessionRewind,
} from '../../../sdk/sessions/session-rewind.js';
import { alignColumns } from '../../../terminal/charts/figure-table.js';
import { plural } from '../../../terminal/text/format-number.js';
import { formatAgo } from '../../../terminal/text/format-time.js';
import { exactText, plainText } from '../../../terminal/text/sanitize.js';
import { type DiffLine, unifiedDiff } from '../../../terminal/text/unified-diff.js';

const MAX_FILE_LINES = 60;
const MAX_LINES = 600;
const MAX_DIFF_BYTES = 512 * 1024;
const MAX_LINE_LENGTH = 300;
const MAX_FILES = 200;
const MAX_COMMANDS = 10;

export const rewindPointsText = (rewind: SessionRewind, now: number): string => {
  const points = rewind.points();
  if (points.length === 0) return 'This session has no prompts yet.\n';
  const rows = points.map(({ number, at, text, files }) => [
    `${number}`,
    formatAgo(at, now),
    `${plural(files, 'file')} changed since`,
    plainText(text, 70),
  ]);
  return `${alignColumns(rows, [0])}\n`;
};

/** Returns the whole plan as text. */
export const rewindPlanText = (
  rewind: SessionRewind,
  plan: RewindPlan,
  isColoured: boolean,
): string => {
  const lines = [headline(plan), ...fileLines(rewind, plan, isColoured), ...notRestoredLines(plan)];
  return `${lines.join('\n')}\n`;
};

const headline = ({ point, prompts, conversation, files, undoes }: RewindPlan): string => {
  const changes = [
    ...(conversation && prompts.length > 0 ? [plural(prompts.length, 'prompt')] : []),
    ...(conversation && prompts.length === 0 ? ['the conversation'] : []),
    ...(files.length > 0 ? [plural(files.length, 'file')] : []),
  ].join(' and ');
  if (undoes !== undefined) return `Undoing the last rewind: ${changes || 'nothing to do'}.`;
  const prompt = point === undefined ? '' : ` (${plainText(point.text, 60)})`;
  return `Rewinding to before prompt ${point?.number ?? 0}${prompt}: ${changes || 'nothing to do'}.`;
};

const fileLines = (rewind: SessionRewind, { files }: RewindPlan, isColoured: boolean): string[] => {
  const lines: string[] = [];
  let left = MAX_LINES;
  for (const file of files.slice(0, MAX_FILES)) {
    const text = fileText(rewind, file, isColoured, Math.min(left, MAX_FILE_LINES));
    left -= text.length;
    lines.push('', ...text);
  }
  if (files.length > MAX_FILES) {
    lines.push('', `and ${plural(files.length - MAX_FILES, 'more file')}; --json lists them all.`);
  }
  return lines;
};

const fileText = (
  rewind: SessionRewind,
  file: PlannedFile,
  isColoured: boolean,
  maxLines: number,
): readonly string[] => {
  const name = exactText(displayPath(rewind.meta.cwd, file.path));
  const title = paint(1, `${changeOf(file)} ${name}${kindsOf(file)}`, isColoured);
  const problem =
    file.why === ''
      ? []
      : [paint(31, `  ${VERDICT_TEXT[file.verdict]}${exactText(file.why)}`, isColoured)];
  if (file.verdict === 'refused' || file.verdict === 'lost' || file.verdict === 'damaged') {
    return [title, ...problem];
  }
  return [title, ...problem, ...differenceOf(rewind.blobs, file, isColoured, maxLines)];
};

const VERDICT_TEXT: Readonly<Record<PlannedFile['verdict'], string>> = {
  restore: '',
  lost: 'cannot be restored: ',
  changed: '',
  unkept: 'its current contents cannot be saved: ',
  damaged: 'cannot be restored: ',
  refused: 'is not changed: ',
};

export const changeOf = ({ now, wanted }: Pick<PlannedFile, 'now' | 'wanted'>): string => {
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
  isColoured: boolean,
  maxLines: number,
): readonly string[] => {
  if ('digest' in now && 'digest' in wanted && now.digest === wanted.digest) return [];
  const old = now.kind === 'file' || now.kind === 'link' ? bytesAt(path) : NO_BYTES;
  const next = 'digest' in wanted ? blobs.read(wanted.digest) : NO_BYTES;
  if (isFolder(now) || isFolder(wanted)) return [];
  if (old === undefined || 'reason' in next) return ['  (cannot be shown)'];
  if (old.length > MAX_DIFF_BYTES || next.length > MAX_DIFF_BYTES) {
    return [`  (large: ${old.length} → ${next.length} bytes)`];
  }
  if (isBinary(old) || isBinary(next)) {
    return [`  (binary: ${old.length} → ${next.length} bytes)`];
  }
  const lines = unifiedDiff(textOf(old), textOf(next));
  const shown = lines.slice(0, Math.max(0, maxLines)).map((line) => diffText(line, isColoured));
  const rest = lines.length - shown.length;
  return rest > 0 ? [...shown, `  (${plural(rest, 'more line')})`] : shown;
};

const NO_BYTES = new Uint8Array();

const isFolder = ({ kind }: FileState): boolean => kind === 'directory';

const bytesAt = (path: string): Uint8Array | undefined => {
  const found = readContents(path, MAX_DIFF_BYTES * 100);
  return 'bytes' in found ? found.bytes : undefined;
};

const isBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, 8_192).includes(0);

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

const SIGNS = { same: '  ', removed: '- ', added: '+ ', hunk: '' } as const;
const COLOURS = { same: 0, removed: 31, added: 32, hunk: 36 } as const;

const diffText = ({ kind, text }: DiffLine, isColoured: boolean): string => {
  const short = text.length > MAX_LINE_LENGTH ? `${text.slice(0, MAX_LINE_LENGTH)}…` : text;
  return `  ${paint(COLOURS[kind], `${SIGNS[kind]}${exactText(short.toWellFormed())}`, isColoured)}`;
};

const paint = (code: number, text: string, isColoured: boolean): string =>
  isColoured && code !== 0 ? `\u001b[${code}m${text}\u001b[0m` : text;

const displayPath = (cwd: string, path: string): string => {
  const short = relative(cwd, path);
  return short === '' || short.startsWith(`..${sep}`) || short === '..' ? path : short;
};

/** Returns lines about effects that a rewind does not undo. They are shown before the person agrees. */
const notRestoredLines = ({ irreversible, keptFiles }: RewindPlan): readonly string[] => {
  const { commands, unwatched } = irreversible;
  const lines: string[] = [];
  if (keptFiles.length > 0) {
    lines.push('', `Not restored: ${plural(keptFiles.length, 'file')} changed since.`);
  }
  if (commands.length > 0) {
    lines.push(
      '',
      'Not undone: ignored files, and other effects (processes, network, git history) of:',
      ...commands.slice(0, MAX_COMMANDS).map((command) => `  ${plainText(command, 100)}`),
    );
    const rest = commands.length - MAX_COMMANDS;
    if (rest > 0) lines.push(`  and ${rest} more`);
  }
  if (unwatched.length > 0) {
    const calls = plural(unwatched.length, 'call');
    lines.push('', `No files were saved before ${calls}, so changes by these calls stay.`);
  }
  return lines;
};

/** Returns a line per file that blocks the rewind. */
export const blockingFileLines = (
  rewind: SessionRewind,
  { files }: RewindPlan,
): readonly string[] =>
  files
    .filter(isBlocking)
    .map(
      ({ path, verdict, why }) =>
        `${exactText(displayPath(rewind.meta.cwd, path))}: ${VERDICT_TEXT[verdict]}${exactText(why)}`,
    );

/** Returns the text after a rewind: what was restored, what was left, and how to undo it. */
export const rewindDoneText = (
  rewind: SessionRewind,
  { conversation, prompts, undoes }: RewindPlan,
  { files, full, left }: RewindOutcome,
): string => {
  const parts = [
    ...(files.length > 0 ? [`${plural(files.length, 'file')} restored`] : []),
    ...(conversation ? [`${plural(prompts.length, 'prompt')} removed`] : []),
  ];
  const { id, cwd } = rewind.meta;
  const kept = [...full, ...left.map(({ path }) => path)].map((path) =>
    exactText(displayPath(cwd, path)),
  );
  return [
    undoes === undefined
      ? `Done: ${parts.join(', ')}.`
      : `Undone: ${plural(files.length, 'file')} restored.`,
    ...(kept.length > 0 ? [`Not changed: ${kept.join(', ')}.`] : []),
    `\`skein rewind ${id} --undo\` undoes this rewind.`,
    '',
  ].join('\n');
};
