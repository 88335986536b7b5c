import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { paintFor } from '../../../../src/terminal/terminal.js';
import { textWidth } from '../../../../src/terminal/text/text-width.js';
import { transcriptLines } from '../../../../src/ui/swarm/detail/transcript-lines.js';
import { TranscriptFold } from '../../../../src/views/transcript/transcript-fold.js';
import type { TranscriptItem } from '../../../../src/views/transcript/transcript-item.js';
import { anyJournal, anyText } from '../../../protocol/journal-records.js';

const layout = { columns: 40, unicode: true, paint: paintFor(false) };
const lines = (item: Partial<TranscriptItem> & Pick<TranscriptItem, 'kind'>, columns = 40) =>
  transcriptLines({ text: '', at: 0, ...item }, { ...layout, columns });

describe('the lines of a transcript', () => {
  test('wrap text at words', () => {
    const text = 'The quick brown fox jumps over the lazy dog.\n\n\tIndented.';
    expect(lines({ kind: 'text', text }, 30)).toEqual([
      '',
      'The quick brown fox jumps',
      'over the lazy dog.',
      '',
      '    Indented.',
    ]);
    expect(lines({ kind: 'text', text: ' \n ' })).toEqual([]);
  });

  test('keep Markdown colours across the rows of a line', () => {
    const paint = paintFor(true);
    const text = '# Found\nUse **both of these** now.';
    const item = { kind: 'text', text, at: 0 } as const;
    expect(transcriptLines(item, { columns: 16, unicode: true, paint })).toEqual([
      '',
      paint.strong('# Found'),
      `Use ${paint.strong('**both of')}`,
      `${paint.strong('these**')} now.`,
    ]);
  });

  test('name the sender of a prompt that is not from a person', () => {
    expect(lines({ kind: 'prompt', from: 'user', text: 'Mend it.\nNow.' })).toEqual([
      '',
      '> Mend it.',
      '  Now.',
    ]);
    expect(lines({ kind: 'prompt', from: 'a_\u001b[31m1', text: 'Stop.' })).toEqual([
      '',
      '> from a_^[[31m1:',
      '> Stop.',
    ]);
  });

  test('show a call without its secrets, and its outcome', () => {
    const text = 'curl -H "Authorization: Bearer abcdefghijklmnop1234567890"';
    expect(lines({ kind: 'call', tool: 'Bash', text }).join('\n')).not.toContain('abcdefgh');
    expect(lines({ kind: 'result', tool: 'Bash', outcome: 'ok', text: 'one\ntwo' })).toEqual([
      '  └ ok',
      '    one',
      '    two',
    ]);
    const denied = { kind: 'result', outcome: 'denied', isProblem: true } as const;
    expect(lines({ ...denied, tool: 'Bash', text: 'Never.' })).toEqual(['  └ denied: Never.']);
  });

  test('show the diff of an edit, up to a limit', () => {
    const edits = [{ before: 'one\ntwo', after: 'one\n\u001b[2Jthree' }];
    expect(lines({ kind: 'call', tool: 'Edit', text: 'Edit a.ts', edits })).toEqual([
      '● Edit a.ts',
      '    @@ -1 +1 @@',
      '     one',
      '    -two',
      '    +^[[2Jthree',
    ]);
    const long = [{ before: '', after: 'line\n'.repeat(100) }];
    const shown = lines({ kind: 'call', tool: 'Write', text: 'Write b.ts', edits: long });
    expect([shown.length, shown.at(-1)]).toEqual([18, '    (85 more lines)']);
  });

  test('colour the diff of an edit and redact its secrets', () => {
    const paint = paintFor(true);
    const edits = [{ before: 'a', after: 'key = "sk-ant-abcdefghijklmnop"' }];
    const item = { kind: 'call', tool: 'Edit', text: 'Edit a.ts', at: 0, edits } as const;
    const shown = transcriptLines(item, { columns: 60, unicode: true, paint });
    expect(shown).toContain(paint.alarm('    -a'));
    expect(shown.join('\n')).not.toContain('abcdefghijklmnop');
    expect(shown.at(-1)).toMatch(/^.\[32m {4}\+key/);
  });

  test('have an ASCII sign for each kind of item', () => {
    const ascii = { ...layout, unicode: false };
    const first = (kind: TranscriptItem['kind'], more: Partial<TranscriptItem> = {}) =>
      transcriptLines({ kind, text: 'x', at: 0, ...more }, ascii).find((line) => line !== '');
    expect([
      first('prompt'),
      first('text'),
      first('thinking'),
      first('call'),
      first('note'),
      first('note', { isProblem: true }),
      first('result', { tool: 'Odd' }),
      first('text', { isUnfinished: true }),
    ]).toEqual(['> x', 'x', '~ x', '* x', '- x', '! x', '  ` ok: x', 'x_']);
  });

  test('never exceed the width for any journal', () => {
    const widths = fc.constantFrom(12, 20, 60, 80, 250);
    fc.assert(
      fc.property(anyJournal, widths, fc.boolean(), (journal, columns, isUnfinished) => {
        const fold = new TranscriptFold();
        for (const record of journal) fold.take(record);
        for (const item of fold.items) {
          for (const line of transcriptLines({ ...item, isUnfinished }, { ...layout, columns })) {
            expect(textWidth(line)).toBeLessThanOrEqual(columns);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  test('contain no control sequences except colours', () => {
    const kinds = fc.constantFrom(
      'prompt' as const,
      'text' as const,
      'thinking' as const,
      'call' as const,
      'note' as const,
    );
    const coloured = { ...layout, paint: paintFor(true) };
    fc.assert(
      fc.property(
        kinds,
        fc.array(anyText).map((texts) => texts.join(' ')),
        (kind, text) => {
          const edits = [{ before: '', after: text }];
          const shown = transcriptLines({ kind, text, from: text, at: 0, edits }, coloured).join(
            '',
          );
          // After the colours are removed, any escape sequence left would come from the text.
          expect(stripVTControlCharacters(shown)).not.toMatch(/\p{Cc}/u);
        },
      ),
      { numRuns: 100 },
    );
  });
});
