/** Lines of `skein top` for screen readers: the trees once, then a line per change of state. */
import {
  formatAgent,
  formatAgentActivity,
  formatAgentState,
} from '../../../terminal/format/format-agent.js';
import { swarmHead, swarmText } from '../../../terminal/output/swarm-text.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import type { StoreSource } from '../../../ui/swarm/store-source.js';
import type { AgentView, SwarmView } from '../../../views/swarm/swarm-view.js';

/** Interval between updates. A change that is reverted within it is not printed. */
const UPDATE_INTERVAL_MS = 1_000;
const WIDTH = 160;

/** Prints until Ctrl-C, or until the output is closed. */
export const printTop = async (
  source: Pick<StoreSource, 'swarms' | 'problem' | 'watch' | 'now' | 'ready' | 'done'>,
  host: TerminalHost,
): Promise<void> => {
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const stopListening = host.onSignal(() => end());
  const lines = new TopLines((line) => host.out(`${line}\n`));
  let timer: NodeJS.Timeout | undefined;
  let stopWatching = () => {};
  try {
    await Promise.race([source.ready, source.done, over]);
    const swarms = source.swarms();
    const layout = { width: WIDTH, unicode: false, now: source.now() };
    host.out(swarms.map((swarm) => `${swarmText(swarm, layout)}\n`).join('\n'));
    if (swarms.length === 0) host.out('No swarm is running yet.\n');
    lines.update(swarms, source.problem(), false);
    const update = () => {
      timer = undefined;
      if (host.isOutputClosed()) end();
      lines.update(source.swarms(), source.problem(), true);
    };
    stopWatching = source.watch(() => {
      timer ??= setTimeout(update, UPDATE_INTERVAL_MS);
    });
    await Promise.race([over, source.done.then(() => over)]);
  } finally {
    clearTimeout(timer);
    stopWatching();
    stopListening();
  }
};

/** Prints agents whose state differs from the last printed state. */
export class TopLines {
  private readonly print: (line: string) => void;
  private readonly printed = new Map<string, string>();
  private problem: string | null = null;

  constructor(print: (line: string) => void) {
    this.print = print;
  }

  /** Records the states. Prints changes only if `isPrinted`. */
  update(swarms: readonly SwarmView[], problem: string | null, isPrinted: boolean): void {
    const print = isPrinted ? this.print : () => {};
    if (problem !== this.problem && (isPrinted || problem !== null)) {
      this.print(problem === null ? 'The store can be reached again.' : plainText(problem, 300));
    }
    this.problem = problem;
    for (const swarm of swarms) {
      const { id } = swarm.session;
      if (!this.printed.has(id)) print(swarmHead(swarm));
      this.printed.set(id, '');
      for (const agent of swarm.agents) this.updateAgent(agent, id, swarms.length > 1, print);
    }
  }

  private updateAgent(
    agent: AgentView,
    session: string,
    isOneOfMany: boolean,
    print: (line: string) => void,
  ): void {
    const key = `${session} ${agent.id}`;
    const state = `${formatAgentState(agent)} ${agent.wait?.kind ?? ''}`;
    if (this.printed.get(key) === state) return;
    this.printed.set(key, state);
    const doing = formatAgentActivity(agent);
    const where = isOneOfMany ? ` of ${plainText(session, 60)}` : '';
    print(
      `${formatAgent(agent, agent.id)}${where}: ${formatAgentState(agent)}${doing === '' ? '' : `, ${doing}`}`,
    );
  }
}
