import { describe, expect, test } from 'vitest';
import { paintFor } from '../../../src/terminal/terminal.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';
import { ReplayClock } from '../../../src/ui/replay/replay-clock.js';
import { TransportLine } from '../../../src/ui/replay/transport-line.js';

const START = new Date(2026, 4, 1, 14, 5, 0).getTime();
const SECONDS = [0, 10, 20, 30, 40, 640];

const openLine = (unicode = true, lastEvent = 'runner a_1: Bash began') => {
  const marks = [
    { index: 2, kind: 'question' },
    { index: 4, kind: 'failure' },
    { index: 5, kind: 'end' },
  ] as const;
  const times = Float64Array.from(SECONDS, (second) => START + second * 1_000);
  const clock = new ReplayClock({ times, marks, length: times.length }, { isRealTime: false });
  const line = new TransportLine(clock, { unicode, paint: paintFor(false) }, () => lastEvent);
  return { clock, line };
};

describe('the transport line', () => {
  test('shows the speed, a bar with marks, the time and the last event', () => {
    const { clock, line } = openLine();
    clock.seek(3);
    expect(line.text(120)).toBe(
      '‖ 1×     ━━━━━━━━━━━━━━━━●────────────────!────────  0:20 of 10:40  event 3 of 6  2026-05-01 14:05:20  runner a_1: Bash…',
    );
    clock.seek(5);
    expect(line.text(120)).toContain(' ━━━━━━━━━━━━━━━━?━━━━━━━━━━━━━━━━●────────  0:40 of 10:40');
  });

  test('shows that the current pause is shortened', () => {
    const { clock, line } = openLine();
    clock.seek(5);
    clock.faster();
    clock.toggle();
    expect(line.text(140)).toContain('(10m without news, cut to 3s)');
    expect(line.text(140)).toMatch(/^▶ 2× /);
    clock.reverse();
    expect(line.text(140)).toMatch(/^◀ 2× /);
    clock.toggleFast();
    expect(line.text(140)).toMatch(/^◀ fast /);
  });

  test('shows the end', () => {
    const { clock, line } = openLine();
    clock.toEnd();
    expect(line.text(80)).toBe(
      '‖ end    ━━━━━━━━━━━━━━━━?━━━━━━━━━━━━━━━!━━━━━━━●  10:40 of 10:40  event 6 of 6',
    );
  });

  test('uses only ASCII on a terminal without Unicode', () => {
    const { clock, line } = openLine(false);
    clock.seek(3);
    expect(line.text(60)).toBe('= 1x     ========O--------!----  0:20 of 10:40  event 3 of 6');
  });

  test.each([5, 10, 20, 30, 40, 60, 80, 120, 160, 250])('fits into %i columns', (width) => {
    const { clock, line } = openLine(true, '兎'.repeat(100));
    for (let position = 0; position <= 6; position += 1) {
      clock.seek(position);
      expect(textWidth(line.text(width))).toBeLessThanOrEqual(width);
    }
  });
});
