/** Runs a command with the session store: opens it, reports outages, closes it. */

import type { SessionStore } from '../../protocol/session/session-store.js';
import { UsageError } from '../../protocol/skein-error.js';
import { openExistingStore } from '../../sdk/assembly/options/open-store.js';
import type { StoreFlags } from '../../sdk/assembly/options/store-choice.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { plainText } from '../../terminal/text/sanitize.js';

/** Time that a short command waits for an unreachable store, in milliseconds. */
const OUTAGE_LIMIT_MS = 10_000;

interface OutageOptions {
  /** True for a command that runs until it is stopped. It waits for the store without limit. */
  readonly isLongRunning?: boolean;
  /** Maximum duration of an outage in milliseconds. Default: 10,000. */
  readonly limitMs?: number;
}

/**
 * Opens the store, runs `use` and closes the store. Rejects with UsageError if the store cannot be
 * used, or is unreachable for too long.
 */
export const withSessionStore = async <Result>(
  host: TerminalHost,
  flags: StoreFlags,
  use: (store: SessionStore) => Promise<Result>,
  options: OutageOptions = {},
): Promise<Result> => {
  const store = await openExistingStore(host, flags);
  const watch = watchOutages(store, host, options);
  try {
    return await Promise.race([use(store), watch.timedOut]);
  } finally {
    watch.end();
    await store.close();
  }
};

/** Prints outages of the store. `timedOut` rejects with UsageError if an outage exceeds the limit. */
const watchOutages = (
  { outages }: SessionStore,
  host: TerminalHost,
  { isLongRunning = false, limitMs = OUTAGE_LIMIT_MS }: OutageOptions,
): { readonly timedOut: Promise<never>; readonly end: () => void } => {
  let timer: NodeJS.Timeout | undefined;
  let fail: (error: UsageError) => void = () => {};
  const timedOut = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const stop = outages?.listen((outage) => {
    clearTimeout(timer);
    if (outage === undefined) {
      host.err('Redis is back.\n');
      return;
    }
    host.err(`${plainText(outage, 300)}: waiting for it to come back.\n`);
    if (isLongRunning) return;
    const seconds = limitMs / 1_000;
    const sentence = `${outage}, and was not back within ${seconds} seconds: try again later.`;
    timer = setTimeout(() => fail(new UsageError(sentence)), limitMs);
  });
  const end = () => {
    clearTimeout(timer);
    stop?.();
  };
  return { timedOut, end };
};
