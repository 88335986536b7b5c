/** Glyphs in front of lines, for terminals with and without Unicode. */
export interface Glyphs {
  readonly done: string;
  readonly failed: string;
  readonly todo: string;
  readonly doing: string;
  readonly queued: string;
  readonly rule: string;
  readonly chosen: string;
  /** Animation frames of a running task. */
  readonly spinner: readonly string[];
}

const UNICODE: Glyphs = {
  done: '✓',
  failed: '✗',
  todo: '○',
  doing: '●',
  queued: '»',
  rule: '─',
  chosen: '❯',
  spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
};

const ASCII: Glyphs = {
  done: '+',
  failed: 'x',
  todo: 'o',
  doing: '*',
  queued: '>>',
  rule: '-',
  chosen: '>',
  spinner: ['|', '/', '-', '\\'],
};

export const glyphsFor = (isUnicode: boolean): Glyphs => (isUnicode ? UNICODE : ASCII);
