/** Small signs in front of lines, for terminals with and without Unicode. */
export interface Signs {
  readonly done: string;
  readonly failed: string;
  readonly todo: string;
  readonly doing: string;
  readonly queued: string;
  readonly rule: string;
  readonly chosen: string;
  /** One after another while something is under way. */
  readonly spinner: readonly string[];
}

const UNICODE: Signs = {
  done: '✓',
  failed: '✗',
  todo: '○',
  doing: '●',
  queued: '»',
  rule: '─',
  chosen: '❯',
  spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
};

const ASCII: Signs = {
  done: '+',
  failed: 'x',
  todo: 'o',
  doing: '*',
  queued: '>>',
  rule: '-',
  chosen: '>',
  spinner: ['|', '/', '-', '\\'],
};

export const signsFor = (unicode: boolean): Signs => (unicode ? UNICODE : ASCII);
