/** The pieces of a transcript as lines of a terminal: wrapped, harmless, with a sign in front of each kind. */
import { redact } from '../../../policy/redaction/redaction.js';
import { reportResult } from '../../../terminal/format/format-tool.js';
import { MARKDOWN_START, paintMarkdown } from '../../../terminal/output/markdown-paint.js';
import type { Paint } from '../../../terminal/terminal.js';
import { oneLine, sanitize, uncoloured } from '../../../terminal/text/sanitize.js';
import { cut, folded } from '../../../terminal/text/text-fit.js';
import { diffLines } from '../../../terminal/text/unified-diff.js';
import type { TextEdit } from '../../../views/transcript/transcript-item.js';
import type { TranscriptItem } from '../swarm-source.js';

export interface TranscriptPaper {
  readonly columns: number;
  readonly unicode: boolean;
  readonly paint: Paint;
}

const LONGEST_CALL = 400;
const LONGEST_NAME = 60;
const MOST_DIFF_LINES = 16;
const NARROWEST = 8;
/** Where something is still being said. */
const CARETS = { unicode: '▌', ascii: '_' };

/** At most so many columns each. Nothing where there is nothing to show. */
export const itemLines = (item: TranscriptItem, paper: TranscriptPaper): readonly string[] => {
  const { paint, unicode, columns } = paper;
  // A column stays free, for the sign that more is coming: then nothing moves when it has come.
  const lines = linesOf(item, { ...paper, columns: columns - 1 });
  if (item.isUnfinished !== true) return lines;
  const caret = paint.accent(unicode ? CARETS.unicode : CARETS.ascii);
  return [...lines.slice(0, -1), `${lines.at(-1) ?? ''}${caret}`];
};

const linesOf = (item: TranscriptItem, paper: TranscriptPaper): readonly string[] => {
  const { paint, unicode } = paper;
  switch (item.kind) {
    case 'prompt':
      return ['', ...promptLines(item, paper)];
    case 'text':
      return item.text.trim() === '' ? [] : ['', ...spokenLines(item.text.trim(), paper)];
    case 'thinking': {
      const thought = oneLine(sanitize(item.text), 600);
      return block(thought === '' ? '(thinking)' : thought, '~ ', paper, paint.dim);
    }
    case 'call': {
      const sign = unicode ? '● ' : '* ';
      const text = oneLine(sanitize(redact(item.text)), LONGEST_CALL);
      return [...block(text, sign, paper, paint.accent), ...editLines(item.edits ?? [], paper)];
    }
    case 'result':
      return resultLines(item, paper);
    case 'note': {
      const text = oneLine(sanitize(redact(item.text)), 2_000);
      if (item.isTrouble === true) return block(text, '! ', paper, paint.alarm);
      return block(text, unicode ? '· ' : '- ', paper, paint.dim);
    }
  }
};

const promptLines = (
  { from = 'user', text }: TranscriptItem,
  paper: TranscriptPaper,
): readonly string[] => {
  const { strong } = paper.paint;
  // Nobody else can pose as a person: who is no person is named.
  const head = from === 'user' ? [] : block(`from ${oneLine(sanitize(from), 60)}:`, '> ', paper);
  return [...head.map(strong), ...block(text.trim(), '> ', paper, strong)];
};

const resultLines = (item: TranscriptItem, paper: TranscriptPaper): readonly string[] => {
  const { paint, unicode } = paper;
  const { tool = '', outcome = 'ok', text, about = '', isTrouble = false } = item;
  const { word, remark, lines } = reportResult({ tool, outcome, isError: isTrouble, text });
  const sign = unicode ? '└ ' : '` ';
  const called = about === '' ? '' : ` ${oneLine(sanitize(redact(about)), LONGEST_NAME)}`;
  const head = `${word}${called}${remark === '' ? '' : `: ${remark}`}`;
  return [
    ...block(head, `  ${sign}`, paper, word === 'ok' ? paint.dim : paint.alarm),
    ...lines.map((line) => paint.dim(cut(`    ${line}`, paper.columns))),
  ];
};

const SIGNS = { new: '+', gone: '-', same: ' ', place: '' } as const;

const editLines = (edits: readonly TextEdit[], paper: TranscriptPaper): readonly string[] => {
  const { paint, columns } = paper;
  const colour = { new: paint.good, gone: paint.alarm, same: paint.dim, place: paint.dim };
  const all = edits.flatMap(({ before, after }) =>
    diffLines(...shown(before, after)).map(({ kind, text }) => {
      const line = `${SIGNS[kind]}${sanitize(text.slice(0, 4_000)).replaceAll('\t', '    ')}`;
      return colour[kind](cut(`    ${line}`, columns));
    }),
  );
  const more = all.length - MOST_DIFF_LINES;
  if (more <= 1) return all;
  return [...all.slice(0, MOST_DIFF_LINES), paint.dim(cut(`    (${more} more lines)`, columns))];
};

/** A secret may go over lines, so the texts are looked at as a whole. The end of the file is not known. */
const shown = (...texts: readonly [string, string]): [string, string] => {
  const whole = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
  return [whole(redact(texts[0])), whole(redact(texts[1]))];
};

/** What the agent says, in the colours of Markdown. */
const spokenLines = (text: string, { columns, paint }: TranscriptPaper): readonly string[] => {
  let state = MARKDOWN_START;
  return plainLines(text).flatMap((line) => {
    const pieces = folded(line, Math.max(NARROWEST, columns));
    return pieces.map((piece, at) => {
      const shown = cut(piece.trimEnd(), columns);
      const painted = paintMarkdown(shown, state, paint, at === pieces.length - 1);
      state = painted.state;
      return painted.text;
    });
  });
};

const plainLines = (text: string): readonly string[] =>
  uncoloured(text).replaceAll('\t', '    ').split('\n');

/** Wrapped by words, with a sign before the first line and room for it before the others. */
const block = (
  text: string,
  sign: string,
  { columns }: TranscriptPaper,
  colour: (line: string) => string = (line) => line,
): readonly string[] => {
  const width = Math.max(NARROWEST, columns - sign.length);
  const room = ' '.repeat(sign.length);
  return plainLines(text)
    .flatMap((line) => folded(line, width))
    .map((line, at) => cut(`${at === 0 ? sign : room}${line.trimEnd()}`, columns))
    .map((line) => colour(line.trimEnd()));
};
