/** `skein top` for those who listen: the trees once, then a plain line for each change of state. */

import { doingOf, stateText, whoText } from '../../../terminal/format/format-agent.js';
import { swarmHead, swarmText } from '../../../terminal/output/swarm-text.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import type { StoreSource } from '../../../ui/swarm/store-source.js';
import type { AgentView, SwarmView } from '../../../views/swarm/swarm-view.js';

/** What changes back within it is not told. */
const LOOK_EVERY_MS = 1_000;
const WIDTH = 160;

/** Until Ctrl-C, or nobody reads it any more. */
export const tellTop = async (
  source: Pick<StoreSource, 'swarms' | 'trouble' | 'watch' | 'now' | 'ready' | 'done'>,
  machine: TerminalHost,
): Promise<void> => {
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const forgetSignals = machine.onSignal(() => end());
  const teller = new StateTeller((line) => machine.out(`${line}\n`));
  let timer: NodeJS.Timeout | undefined;
  let forget = () => {};
  try {
    await Promise.race([source.ready, source.done, over]);
    const swarms = source.swarms();
    const paper = { width: WIDTH, unicode: false, now: source.now() };
    machine.out(swarms.map((swarm) => `${swarmText(swarm, paper)}\n`).join('\n'));
    if (swarms.length === 0) machine.out('Nothing runs yet.\n');
    teller.take(swarms, source.trouble(), false);
    const look = () => {
      timer = undefined;
      if (machine.isOutputClosed()) end();
      teller.take(source.swarms(), source.trouble(), true);
    };
    forget = source.watch(() => {
      timer ??= setTimeout(look, LOOK_EVERY_MS);
    });
    await Promise.race([over, source.done.then(() => over)]);
  } finally {
    clearTimeout(timer);
    forget();
    forgetSignals();
  }
};

/** Knows what was last said of each. */
export class StateTeller {
  private readonly say: (line: string) => void;
  private readonly said = new Map<string, string>();
  private trouble: string | null = null;

  constructor(say: (line: string) => void) {
    this.say = say;
  }

  /** `isTold`: what is new is said. */
  take(swarms: readonly SwarmView[], trouble: string | null, isTold: boolean): void {
    const say = isTold ? this.say : () => {};
    if (trouble !== this.trouble && (isTold || trouble !== null)) {
      this.say(trouble === null ? 'It can be reached again.' : plainText(trouble, 300));
    }
    this.trouble = trouble;
    for (const swarm of swarms) {
      const { id } = swarm.session;
      if (!this.said.has(id)) say(swarmHead(swarm));
      this.said.set(id, '');
      for (const agent of swarm.agents) this.takeAgent(agent, id, swarms.length > 1, say);
    }
  }

  private takeAgent(
    agent: AgentView,
    session: string,
    isOneOfMany: boolean,
    say: (line: string) => void,
  ): void {
    const key = `${session} ${agent.id}`;
    const state = `${stateText(agent)} ${agent.wait?.kind ?? ''}`;
    if (this.said.get(key) === state) return;
    this.said.set(key, state);
    const doing = doingOf(agent);
    const where = isOneOfMany ? ` of ${plainText(session, 60)}` : '';
    say(
      `${whoText(agent, agent.id)}${where}: ${stateText(agent)}${doing === '' ? '' : `, ${doing}`}`,
    );
  }
}
