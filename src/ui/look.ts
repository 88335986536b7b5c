/** How a screen may look on the terminal that it is on. */
import { chartStyle } from '../terminal/bar-chart.js';
import type { Machine } from '../terminal/machine.js';
import { type Paint, paintFor, wantsColour } from '../terminal/terminal.js';

export interface Look {
  readonly paint: Paint;
  /** The terminal has more than ASCII to draw with. */
  readonly unicode: boolean;
}

export const lookOn = (machine: Machine): Look => ({
  paint: paintFor(wantsColour(machine)),
  unicode: chartStyle(machine).unicode,
});
