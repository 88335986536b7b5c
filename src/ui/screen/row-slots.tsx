/**
 * Room for lines that are put in after Ink has laid out: it sees a mark at the beginning of each, and not
 * the text. Laying out text means a look at every character of the screen; a screen that changes ten times
 * a second is laid out once, and filled in again and again.
 */
import { Box, Text } from 'ink';
import { memo } from 'react';

/** For private use: no terminal shows them, and Ink takes them for a column each. */
const FIRST = 0xe000;
/** A mark, and the room behind it. */
const MARKED = /([\ue000-\uf8ff]) */g;

export interface SlotsProps {
  /** The number of the first. */
  readonly from: number;
  readonly lines: number;
  readonly width: number;
}

/** Lines one below the other. */
export const Slots = memo(({ from, lines, width }: SlotsProps) => (
  <Box width={width} height={lines} flexShrink={0}>
    <Text>
      {Array.from({ length: lines }, (_, at) => String.fromCharCode(FIRST + from + at)).join('\n')}
    </Text>
  </Box>
));

/** A text is as wide as its slot; the last one of a line may be less wide. */
export const fillSlots = (
  lines: readonly string[],
  textOf: (slot: number) => string,
): readonly string[] =>
  lines.map((line) => line.replace(MARKED, (mark) => textOf(mark.charCodeAt(0) - FIRST)));
