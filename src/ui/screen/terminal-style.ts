/** How a screen may look on the terminal that it is on. */

import { type Paint, paintFor, wantsColour } from '../../terminal/terminal.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { chartStyle } from '../../terminal/text/bar-chart.js';

export interface Look {
  readonly paint: Paint;
  /** The terminal has more than ASCII to draw with. */
  readonly unicode: boolean;
}

export const lookOn = (machine: TerminalHost): Look => ({
  paint: paintFor(wantsColour(machine)),
  unicode: chartStyle(machine).unicode,
});
