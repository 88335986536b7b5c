/** The world around the command, passed in so that every command can be run in a test. */
import type { Surroundings } from '../sdk/surroundings.js';

export interface Machine extends Surroundings {
  readonly stdin: NodeJS.ReadStream & { readonly fd: number };
  /** The only way to stdout. Text that cannot be written any more is dropped. */
  readonly out: (text: string) => void;
  /** Nobody reads stdout any more, as far as the last write could tell. */
  readonly isOutputClosed: () => boolean;
  /** The same for stderr. */
  readonly err: (text: string) => void;
  /** Calls back at each Ctrl-C or request to end; the returned function stops it. */
  readonly onInterrupt: (listener: () => void) => () => void;
}
