/** Error for a worker that opens a session of a store without workers. */
import { UsageError } from '../../protocol/skein-error.js';

export const noWorkers = (id: string): UsageError =>
  new UsageError(
    `Only the process that runs session ${id} works on it: set SKEIN_REDIS_URL to use workers.`,
  );
