/** `skein top`: running swarms on the whole terminal, live, with keys to look and to steer. */
import type { SessionStore } from '../../../protocol/session/store.js';
import { sessionNamed } from '../../../sdk/sessions/find-session.js';
import { isCapableTerminal, isForScreenReader } from '../../../terminal/terminal.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { StoreSource } from '../../../ui/swarm/store-source.js';
import { EXIT } from '../../run/exit-code.js';
import { withSessions } from '../inspect/with-session-store.js';
import { listSwarms, type PsFlags } from './ps-command.js';
import { tellTop } from './top-lines.js';

export interface TopFlags extends PsFlags {
  readonly screenReader?: boolean;
}

export const showTop = async (
  wanted: string | undefined,
  flags: TopFlags,
  machine: TerminalHost,
): Promise<number> => {
  const isHeard = flags.screenReader === true || isForScreenReader(machine);
  const isSeen = isCapableTerminal(machine);
  // Where nothing can be shown for long, it is shown once.
  if (flags.json === true || !(isHeard || isSeen)) return listSwarms(wanted, flags, machine);
  // A store that goes away later is told of where the swarms are.
  let isShown = false;
  const quiet = { ...machine, err: (text: string) => (isShown ? undefined : machine.err(text)) };
  return withSessions(
    quiet,
    flags,
    async (store) => {
      const source = await sourceOf(store, wanted, machine);
      isShown = true;
      try {
        return await (isHeard ? listen(source, machine) : watch(source, store, machine));
      } finally {
        source.stop();
        await source.settled();
      }
    },
    { isPatient: true },
  );
};

const sourceOf = async (
  store: SessionStore,
  wanted: string | undefined,
  { cwd }: TerminalHost,
): Promise<StoreSource> =>
  new StoreSource(store, wanted === undefined ? undefined : await sessionNamed(store, wanted, cwd));

const listen = async (source: StoreSource, machine: TerminalHost): Promise<number> => {
  await tellTop(source, machine);
  return EXIT.done;
};

const watch = async (
  source: StoreSource,
  store: SessionStore,
  machine: TerminalHost,
): Promise<number> => {
  const { showSwarmScreen } = await import('../../../ui/swarm/swarm-screen.js');
  const { done } = source;
  const left = await showSwarmScreen(machine, { source, store, title: 'skein top', done });
  return left === 'left' ? EXIT.done : EXIT.interrupted;
};
