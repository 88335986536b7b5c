/** Style of charts on this terminal: width, Unicode blocks or ASCII, colours or none. */

import { wantsColour } from '../terminal.js';
import type { TerminalHost } from '../terminal-host.js';

export interface ChartStyle {
  /** Maximum columns of a line. */
  readonly width: number;
  readonly unicode: boolean;
  readonly coloured: boolean;
}

/** Wider lines are harder to read. */
const MAX_WIDTH = 120;
const MIN_WIDTH = 40;
/** Width if stdout is not a terminal. */
const DEFAULT_WIDTH = 100;

export const chartStyle = (host: TerminalHost): ChartStyle => ({
  width: Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, host.stdout.columns || DEFAULT_WIDTH)),
  unicode: hasUnicode(host),
  coloured: wantsColour(host),
});

/** Locale variables by precedence: the first variable that is set names the character set. */
const LOCALE_VARIABLES = ['LC_ALL', 'LC_CTYPE', 'LANG'] as const;

const hasUnicode = ({ env, platform }: TerminalHost): boolean => {
  if (env.TERM === 'dumb') return false;
  const name = LOCALE_VARIABLES.find((variable) => (env[variable] ?? '') !== '');
  // Terminals of macOS and Windows show Unicode without a locale; elsewhere no locale means ASCII.
  if (name === undefined) return platform === 'darwin' || platform === 'win32';
  return /utf-?8/i.test(env[name] ?? '');
};
