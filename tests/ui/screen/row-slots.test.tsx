import { Box } from 'ink';
import { describe, expect, test, vi } from 'vitest';
import { openInkView } from '../../../src/ui/screen/ink-view.js';
import { fillRowSlots, RowSlots } from '../../../src/ui/screen/row-slots.js';
import { laidOut } from '../../fakes/terminal/laid-out.js';

const PARTS = (
  <Box flexDirection="column" width={20} height={3}>
    <RowSlots from={0} lines={1} width={20} />
    <Box>
      <RowSlots from={10} lines={2} width={8} />
      <RowSlots from={20} lines={2} width={12} />
    </Box>
  </Box>
);

describe('row slots', () => {
  test('are filled at their position in the layout', () => {
    const texts = new Map([
      [0, 'the head'],
      ...([10, 11].map((slot) => [slot, `left ${slot} `]) as [number, string][]),
      ...([20, 21].map((slot) => [slot, `right ${slot}`]) as [number, string][]),
    ]);
    expect(fillRowSlots(laidOut(PARTS, 20, 3), (slot) => texts.get(slot) ?? '')).toEqual([
      'the head',
      'left 10 right 20',
      'left 11 right 21',
    ]);
  });

  test('keep special characters of the filled text', () => {
    const lines = fillRowSlots(laidOut(PARTS, 20, 3), () => '\ue000\ue00a  $& ');
    expect(lines[0]).toBe('\ue000\ue00a  $& ');
  });

  test('are laid out once while the element and the size are unchanged', () => {
    const size = { columns: 20, rows: 3 };
    const frames = vi.fn<(lines: readonly string[]) => void>();
    const view = openInkView(() => PARTS, {
      size: () => size,
      onFrame: frames,
      onDefect: () => {},
    });
    view.refresh();
    expect(frames).toHaveBeenCalledTimes(2);
    // The same array: no new layout.
    expect(frames.mock.calls[1]?.[0]).toBe(frames.mock.calls[0]?.[0]);
    size.columns = 30;
    view.refresh();
    expect(frames.mock.calls.at(-1)?.[0]).not.toBe(frames.mock.calls[0]?.[0]);
    view.close();
  });
});
