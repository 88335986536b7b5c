/** The store of a command that looks at sessions: opened, watched while it is needed, and let go of. */
import { UsageError } from '../../../protocol/errors.js';
import type { SessionStore } from '../../../protocol/session/store.js';
import { openArchive } from '../../../sdk/assembly/options/open-store.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plainText } from '../../../terminal/text/sanitize.js';

/** What a command that is soon over waits for a store that has gone away. */
const PATIENCE_MS = 10_000;

export interface LookTerms {
  /** It goes on until somebody ends it, and waits for as long as that takes. */
  readonly isPatient?: boolean;
  readonly patienceMs?: number;
}

/** Rejects with a UsageError when the store cannot be used, or has gone away and does not come back. */
export const withSessions = async <Result>(
  machine: TerminalHost,
  flags: StoreFlags,
  look: (store: SessionStore) => Promise<Result>,
  terms: LookTerms = {},
): Promise<Result> => {
  const store = await openArchive(machine, flags);
  const watch = watchOutages(store, machine, terms);
  try {
    return await Promise.race([look(store), watch.given]);
  } finally {
    watch.end();
    await store.close();
  }
};

/** `given` rejects when nobody should wait any longer. */
const watchOutages = (
  { outages }: SessionStore,
  machine: TerminalHost,
  { isPatient = false, patienceMs = PATIENCE_MS }: LookTerms,
): { readonly given: Promise<never>; readonly end: () => void } => {
  let limit: NodeJS.Timeout | undefined;
  let giveUp: (error: UsageError) => void = () => {};
  const given = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  const stop = outages?.listen((trouble) => {
    clearTimeout(limit);
    if (trouble === undefined) {
      machine.err('Redis is back.\n');
      return;
    }
    machine.err(`${plainText(trouble, 300)}: waiting for it to come back.\n`);
    if (isPatient) return;
    const seconds = patienceMs / 1_000;
    const sentence = `${trouble}, and was not back within ${seconds} seconds: try again later.`;
    limit = setTimeout(() => giveUp(new UsageError(sentence)), patienceMs);
  });
  const end = () => {
    clearTimeout(limit);
    stop?.();
  };
  return { given, end };
};
