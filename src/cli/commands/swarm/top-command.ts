/** `skein top`: shows running swarms live on the whole terminal, with keys to inspect and steer. */
import type { SessionStore } from '../../../protocol/session/session-store.js';
import { findSession } from '../../../sdk/sessions/find-session.js';
import { isCapableTerminal, isForScreenReader } from '../../../terminal/terminal.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { StoreSource } from '../../../ui/swarm/store-source.js';
import { ExitCode } from '../../session/exit-code.js';
import { withSessionStore } from '../../session/with-session-store.js';
import { type PsFlags, psCommand } from './ps-command.js';
import { printTop } from './top-lines.js';

export interface TopFlags extends PsFlags {
  readonly screenReader?: boolean;
}

export const topCommand = async (
  query: string | undefined,
  flags: TopFlags,
  host: TerminalHost,
): Promise<number> => {
  const isForReader = flags.screenReader === true || isForScreenReader(host);
  const isCapable = isCapableTerminal(host);
  // Without a terminal the swarms are printed once.
  if (flags.json === true || !(isForReader || isCapable)) return psCommand(query, flags, host);
  // The screen shows later outages of the store itself.
  let isShown = false;
  const quiet = { ...host, err: (text: string) => (isShown ? undefined : host.err(text)) };
  return withSessionStore(
    quiet,
    flags,
    async (store) => {
      const source = await sourceOf(store, query, host);
      isShown = true;
      try {
        return await (isForReader ? printLines(source, host) : showScreen(source, store, host));
      } finally {
        source.stop();
        await source.settled();
      }
    },
    { isLongRunning: true },
  );
};

const sourceOf = async (
  store: SessionStore,
  query: string | undefined,
  { cwd }: TerminalHost,
): Promise<StoreSource> =>
  new StoreSource(store, query === undefined ? undefined : await findSession(store, query, cwd));

const printLines = async (source: StoreSource, host: TerminalHost): Promise<number> => {
  await printTop(source, host);
  return ExitCode.done;
};

const showScreen = async (
  source: StoreSource,
  store: SessionStore,
  host: TerminalHost,
): Promise<number> => {
  const { showSwarmScreen } = await import('../../../ui/swarm/show-swarm-screen.js');
  const { done } = source;
  const left = await showSwarmScreen(host, { source, store, title: 'skein top', done });
  return left === 'left' ? ExitCode.done : ExitCode.interrupted;
};
