/** Terminal style: colours and characters that the terminal supports. */

import { type Paint, paintFor, wantsColour } from '../../terminal/terminal.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { chartStyle } from '../../terminal/text/chart-style.js';

export interface TerminalStyle {
  readonly paint: Paint;
  /** True if the terminal shows Unicode. */
  readonly unicode: boolean;
}

export const terminalStyle = (host: TerminalHost): TerminalStyle => ({
  paint: paintFor(wantsColour(host)),
  unicode: chartStyle(host).unicode,
});
