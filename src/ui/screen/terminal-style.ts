/** Terminal style: colours and characters that the terminal supports. */

import { chartStyle } from '../../terminal/charts/chart-style.js';
import { type Paint, paintFor, wantsColour } from '../../terminal/terminal.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';

export interface TerminalStyle {
  readonly paint: Paint;
  /** True if the terminal shows Unicode. */
  readonly unicode: boolean;
}

export const terminalStyle = (host: TerminalHost): TerminalStyle => ({
  paint: paintFor(wantsColour(host)),
  unicode: chartStyle(host).unicode,
});
