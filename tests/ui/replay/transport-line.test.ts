import { describe, expect, test } from 'vitest';
import { paintFor } from '../../../src/terminal/terminal.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';
import { ReplayClock } from '../../../src/ui/replay/replay-clock.js';
import { TransportLine } from '../../../src/ui/replay/transport-line.js';

const START = new Date(2026, 4, 1, 14, 5, 0).getTime();
const SECONDS = [0, 10, 20, 30, 40, 640];

const openLine = (unicode = true, news = 'runner a_1: Bash began') => {
  const marks = [
    { index: 2, kind: 'question' },
    { index: 4, kind: 'failure' },
    { index: 5, kind: 'end' },
  ] as const;
  const times = Float64Array.from(SECONDS, (second) => START + second * 1_000);
  const tape = new ReplayClock({ times, marks, length: times.length }, { isRealTime: false });
  const line = new TransportLine(tape, { unicode, paint: paintFor(false) }, () => news);
  return { tape, line };
};

describe('the line of a tape', () => {
  test('has how it plays, a bar with marks, the time, and what happened last', () => {
    const { tape, line } = openLine();
    tape.seek(3);
    expect(line.text(120)).toBe(
      '‖ 1×     ━━━━━━━━━━━━━━━━●────────────────!────────  0:20 of 10:40  event 3 of 6  2026-05-01 14:05:20  runner a_1: Bash…',
    );
    tape.seek(5);
    expect(line.text(120)).toContain(' ━━━━━━━━━━━━━━━━?━━━━━━━━━━━━━━━━●────────  0:40 of 10:40');
  });

  test('says that a pause is cut short while it is played', () => {
    const { tape, line } = openLine();
    tape.seek(5);
    tape.faster();
    tape.toggle();
    expect(line.text(140)).toContain('(10m without news, cut to 3s)');
    expect(line.text(140)).toMatch(/^▶ 2× /);
    tape.reverse();
    expect(line.text(140)).toMatch(/^◀ 2× /);
    tape.toggleFast();
    expect(line.text(140)).toMatch(/^◀ fast /);
  });

  test('stays at the end', () => {
    const { tape, line } = openLine();
    tape.toEnd();
    expect(line.text(80)).toBe(
      '‖ end    ━━━━━━━━━━━━━━━━?━━━━━━━━━━━━━━━!━━━━━━━●  10:40 of 10:40  event 6 of 6',
    );
  });

  test('does with ASCII', () => {
    const { tape, line } = openLine(false);
    tape.seek(3);
    expect(line.text(60)).toBe('= 1x     ========O--------!----  0:20 of 10:40  event 3 of 6');
  });

  test.each([5, 10, 20, 30, 40, 60, 80, 120, 160, 250])('fits into %i columns', (width) => {
    const { tape, line } = openLine(true, '兎'.repeat(100));
    for (let position = 0; position <= 6; position += 1) {
      tape.seek(position);
      expect(textWidth(line.text(width))).toBeLessThanOrEqual(width);
    }
  });
});
