/** Swarm frame: the layout of a swarm screen as row slots, which are filled for every frame. */
import { Box, Text } from 'ink';
import type { Size } from '../screen/painter.js';
import { RowSlots } from '../screen/row-slots.js';
import type { TerminalStyle } from '../screen/terminal-style.js';
import type { Hint } from './hint-line.js';
import { DIVIDER_WIDTH, type SwarmLayout } from './swarm-layout.js';

/** First slot number of each part. No terminal has a thousand lines. */
export const FRAME_SLOT = {
  above: 0,
  tree: 1_000,
  divider: 2_000,
  detail: 3_000,
  below: 4_000,
} as const;

/** `below`: number of lines at the bottom. */
export const SwarmFrame = ({ layout, below }: { layout: SwarmLayout; below: number }) => {
  const { size, above, tree, detail } = layout;
  const isRight = detail?.side === 'right';
  const height = tree.height + 1;
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows}>
      <RowSlots from={FRAME_SLOT.above} lines={above} width={size.columns} />
      <Box flexDirection={isRight ? 'row' : 'column'}>
        <RowSlots from={FRAME_SLOT.tree} lines={height} width={tree.width} />
        {detail === undefined ? null : (
          <RowSlots
            from={FRAME_SLOT.divider}
            lines={isRight ? height : 1}
            width={isRight ? DIVIDER_WIDTH : size.columns}
          />
        )}
        {detail === undefined ? null : (
          <RowSlots from={FRAME_SLOT.detail} lines={detail.height} width={detail.width} />
        )}
      </Box>
      <RowSlots from={FRAME_SLOT.below} lines={below} width={size.columns} />
    </Box>
  );
};

/** Frame of a full-screen transcript. */
export const TranscriptFrame = ({ size, below }: { size: Size; below: number }) => (
  <Box flexDirection="column" width={size.columns} height={size.rows}>
    <RowSlots from={FRAME_SLOT.above} lines={2} width={size.columns} />
    <RowSlots from={FRAME_SLOT.detail} lines={size.rows - 2 - below} width={size.columns} />
    <RowSlots from={FRAME_SLOT.below} lines={below} width={size.columns} />
  </Box>
);

const KEY_WIDTH = 16;
/** Rows of the border and of the line below it. */
const HELP_MARGIN = 3;

/** Returns as many lines as fit. The last line always stays, because it names the key that leaves. */
const helpIn = (rows: number, lines: readonly Hint[]): readonly Hint[] => {
  const room = Math.max(1, rows - HELP_MARGIN);
  return lines.length <= room ? lines : [...lines.slice(0, room - 1), ...lines.slice(-1)];
};

export const HelpFrame = ({
  size,
  style,
  lines,
}: {
  size: Size;
  style: TerminalStyle;
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
      borderStyle={style.unicode ? 'round' : 'classic'}
      paddingX={1}
      width={Math.min(size.columns, 60)}
    >
      {helpIn(size.rows, lines).map(({ key, text }) => (
        <Text key={key} wrap="truncate">
          {`${style.paint.strong(key.padEnd(KEY_WIDTH))}${text}`}
        </Text>
      ))}
    </Box>
    <Box flexShrink={0}>
      <Text wrap="truncate">{style.paint.dim('any key goes back')}</Text>
    </Box>
  </Box>
);
