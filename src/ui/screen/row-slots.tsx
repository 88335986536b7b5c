/**
 * Row slots: placeholders for lines that are inserted after Ink's layout.
 *
 * Ink sees only a marker per line. Layout measures every character, which is too slow for a screen that changes ten times a second. Such a screen is
 * laid out once, and only its slots are filled for each frame.
 */
import { Box, Text } from 'ink';
import { memo } from 'react';

/** First marker, of the private use area: never printed, and one column wide for Ink. */
const FIRST_MARKER = 0xe000;
/** Marker and the blanks behind it. */
const MARKED = /([\ue000-\uf8ff]) */g;

interface RowSlotsProps {
  /** Number of the first slot. */
  readonly from: number;
  readonly lines: number;
  readonly width: number;
}

/** Slots below each other. */
export const RowSlots = memo(({ from, lines, width }: RowSlotsProps) => (
  <Box width={width} height={lines} flexShrink={0}>
    <Text>
      {Array.from({ length: lines }, (_, at) => String.fromCharCode(FIRST_MARKER + from + at)).join(
        '\n',
      )}
    </Text>
  </Box>
));

/** Replaces the slots by text. A text must be as wide as its slot, except for the last slot of a line. */
export const fillRowSlots = (
  lines: readonly string[],
  textOf: (slot: number) => string,
): readonly string[] =>
  lines.map((line) => line.replace(MARKED, (mark) => textOf(mark.charCodeAt(0) - FIRST_MARKER)));
