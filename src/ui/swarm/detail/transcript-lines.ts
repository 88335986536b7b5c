/** Transcript lines: items of a transcript as wrapped, sanitized lines with signs. */
import { redact } from '../../../policy/redaction/redact.js';
import { formatCallResult } from '../../../terminal/format/format-call.js';
import { MARKDOWN_START, paintMarkdown } from '../../../terminal/output/paint-markdown.js';
import type { Paint } from '../../../terminal/terminal.js';
import { cutText, foldLine } from '../../../terminal/text/fit-text.js';
import { oneLine, sanitize, stripEscapes } from '../../../terminal/text/sanitize.js';
import { unifiedDiff } from '../../../terminal/text/unified-diff.js';
import type { ShownEdit, TranscriptItem } from '../../../views/transcript/transcript-item.js';

export interface TranscriptLineOptions {
  readonly columns: number;
  readonly unicode: boolean;
  readonly paint: Paint;
}

const MAX_CALL_LENGTH = 400;
const MAX_NAME_LENGTH = 60;
const MAX_DIFF_LINES = 16;
const MIN_WIDTH = 8;
/** Sign at the end of an unfinished message. */
const CARETS = { unicode: '▌', ascii: '_' };

/** Returns lines of at most `columns` columns; no lines for an empty item. */
export const transcriptLines = (
  item: TranscriptItem,
  options: TranscriptLineOptions,
): readonly string[] => {
  const { paint, unicode, columns } = options;
  // One column stays free for the caret, so that no text moves when the message ends.
  const lines = linesOf(item, { ...options, columns: columns - 1 });
  if (item.isUnfinished !== true) return lines;
  const caret = paint.accent(unicode ? CARETS.unicode : CARETS.ascii);
  return [...lines.slice(0, -1), `${lines.at(-1) ?? ''}${caret}`];
};

const linesOf = (item: TranscriptItem, options: TranscriptLineOptions): readonly string[] => {
  const { paint, unicode } = options;
  switch (item.kind) {
    case 'prompt':
      return ['', ...promptLines(item, options)];
    case 'text':
      return item.text.trim() === '' ? [] : ['', ...spokenLines(item.text.trim(), options)];
    case 'thinking': {
      const thought = oneLine(sanitize(item.text), 600);
      return block(thought === '' ? '(thinking)' : thought, '~ ', options, paint.dim);
    }
    case 'call': {
      const sign = unicode ? '● ' : '* ';
      const text = oneLine(sanitize(redact(item.text)), MAX_CALL_LENGTH);
      return [...block(text, sign, options, paint.accent), ...editLines(item.edits ?? [], options)];
    }
    case 'result':
      return resultLines(item, options);
    case 'note': {
      const text = oneLine(sanitize(redact(item.text)), 2_000);
      if (item.isProblem === true) return block(text, '! ', options, paint.alarm);
      return block(text, unicode ? '· ' : '- ', options, paint.dim);
    }
  }
};

const promptLines = (
  { from = 'user', text }: TranscriptItem,
  options: TranscriptLineOptions,
): readonly string[] => {
  const { strong } = options.paint;
  // Senders other than the person are named, so that no agent can imitate the person.
  const head = from === 'user' ? [] : block(`from ${oneLine(sanitize(from), 60)}:`, '> ', options);
  return [...head.map(strong), ...block(text.trim(), '> ', options, strong)];
};

const resultLines = (item: TranscriptItem, options: TranscriptLineOptions): readonly string[] => {
  const { paint, unicode } = options;
  const { tool = '', outcome = 'ok', text, callText = '', isProblem: isFailed = false } = item;
  const { word, remark, lines } = formatCallResult({ tool, outcome, isError: isFailed, text });
  const sign = unicode ? '└ ' : '` ';
  const called = callText === '' ? '' : ` ${oneLine(sanitize(redact(callText)), MAX_NAME_LENGTH)}`;
  const head = `${word}${called}${remark === '' ? '' : `: ${remark}`}`;
  return [
    ...block(head, `  ${sign}`, options, word === 'ok' ? paint.dim : paint.alarm),
    ...lines.map((line) => paint.dim(cutText(`    ${line}`, options.columns))),
  ];
};

const SIGNS = { added: '+', removed: '-', same: ' ', hunk: '' } as const;

const editLines = (
  edits: readonly ShownEdit[],
  options: TranscriptLineOptions,
): readonly string[] => {
  const { paint, columns } = options;
  const colour = { added: paint.good, removed: paint.alarm, same: paint.dim, hunk: paint.dim };
  const all = edits.flatMap(({ before, after }) =>
    unifiedDiff(...shown(before, after)).map(({ kind, text }) => {
      const line = `${SIGNS[kind]}${sanitize(text.slice(0, 4_000)).replaceAll('\t', '    ')}`;
      return colour[kind](cutText(`    ${line}`, columns));
    }),
  );
  const more = all.length - MAX_DIFF_LINES;
  if (more <= 1) return all;
  return [...all.slice(0, MAX_DIFF_LINES), paint.dim(cutText(`    (${more} more lines)`, columns))];
};

/** Redacts the texts as a whole, because a secret may span lines. Adds a final newline, since the file end is unknown. */
const shown = (...texts: readonly [string, string]): [string, string] => {
  const whole = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
  return [whole(redact(texts[0])), whole(redact(texts[1]))];
};

/** Returns text of the agent, painted as Markdown. */
const spokenLines = (
  text: string,
  { columns, paint }: TranscriptLineOptions,
): readonly string[] => {
  let state = MARKDOWN_START;
  return plainLines(text).flatMap((line) => {
    const pieces = foldLine(line, Math.max(MIN_WIDTH, columns));
    return pieces.map((piece, at) => {
      const shown = cutText(piece.trimEnd(), columns);
      const painted = paintMarkdown(shown, state, paint, at === pieces.length - 1);
      state = painted.state;
      return painted.text;
    });
  });
};

const plainLines = (text: string): readonly string[] =>
  stripEscapes(text).replaceAll('\t', '    ').split('\n');

/** Wraps text at words, with the sign before the first line and an indent before the others. */
const block = (
  text: string,
  sign: string,
  { columns }: TranscriptLineOptions,
  colour: (line: string) => string = (line) => line,
): readonly string[] => {
  const width = Math.max(MIN_WIDTH, columns - sign.length);
  const room = ' '.repeat(sign.length);
  return plainLines(text)
    .flatMap((line) => foldLine(line, width))
    .map((line, at) => cutText(`${at === 0 ? sign : room}${line.trimEnd()}`, columns))
    .map((line) => colour(line.trimEnd()));
};
