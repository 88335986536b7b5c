/** Where everything stands on a swarm screen; the lines themselves are put in at every frame. */
import { Box, Text } from 'ink';
import type { Size } from '../screen/painter.js';
import { Slots } from '../screen/row-slots.js';
import type { Look } from '../screen/terminal-style.js';
import type { Hint } from './hint-line.js';
import { type BoardLayout, DIVIDER_WIDTH } from './swarm-layout.js';

/** The numbers of the first slots of each part; no terminal has so many lines. */
export const SLOT = { above: 0, tree: 1_000, divider: 2_000, detail: 3_000, below: 4_000 } as const;

/** `below`: lines at the bottom. */
export const BoardFrame = ({ layout, below }: { layout: BoardLayout; below: number }) => {
  const { size, above, tree, detail } = layout;
  const isRight = detail?.side === 'right';
  const height = tree.height + 1;
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows}>
      <Slots from={SLOT.above} lines={above} width={size.columns} />
      <Box flexDirection={isRight ? 'row' : 'column'}>
        <Slots from={SLOT.tree} lines={height} width={tree.width} />
        {detail === undefined ? null : (
          <Slots
            from={SLOT.divider}
            lines={isRight ? height : 1}
            width={isRight ? DIVIDER_WIDTH : size.columns}
          />
        )}
        {detail === undefined ? null : (
          <Slots from={SLOT.detail} lines={detail.height} width={detail.width} />
        )}
      </Box>
      <Slots from={SLOT.below} lines={below} width={size.columns} />
    </Box>
  );
};

/** One part from the top to the bottom line. */
export const TranscriptFrame = ({ size, below }: { size: Size; below: number }) => (
  <Box flexDirection="column" width={size.columns} height={size.rows}>
    <Slots from={SLOT.above} lines={2} width={size.columns} />
    <Slots from={SLOT.detail} lines={size.rows - 2 - below} width={size.columns} />
    <Slots from={SLOT.below} lines={below} width={size.columns} />
  </Box>
);

const KEY_WIDTH = 16;
/** The border, and the line below it. */
const HELP_MARGIN = 3;

/** As many as there is room for, and the last one, which is the way out. */
const helpIn = (rows: number, lines: readonly Hint[]): readonly Hint[] => {
  const room = Math.max(1, rows - HELP_MARGIN);
  return lines.length <= room ? lines : [...lines.slice(0, room - 1), ...lines.slice(-1)];
};

export const HelpFrame = ({
  size,
  look,
  lines,
}: {
  size: Size;
  look: Look;
  lines: readonly Hint[];
}) => (
  <Box
    flexDirection="column"
    width={size.columns}
    height={size.rows}
    alignItems="center"
    justifyContent="center"
    overflow="hidden"
  >
    <Box
      flexDirection="column"
      flexShrink={0}
      borderStyle={look.unicode ? 'round' : 'classic'}
      paddingX={1}
      width={Math.min(size.columns, 60)}
    >
      {helpIn(size.rows, lines).map(({ key, says }) => (
        <Text key={key} wrap="truncate">
          {`${look.paint.strong(key.padEnd(KEY_WIDTH))}${says}`}
        </Text>
      ))}
    </Box>
    <Box flexShrink={0}>
      <Text wrap="truncate">{look.paint.dim('any key goes back')}</Text>
    </Box>
  </Box>
);
