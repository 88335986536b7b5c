/** A session in lines: keys where the terminal has them, whole lines anywhere else. */
import { KeyTerminal } from '../../terminal/input/key-terminal.js';
import { LineTerminal } from '../../terminal/input/line-terminal.js';
import { FeedPrinter } from '../../terminal/output/feed-printer.js';
import { nameOfAgent, type OpenView } from '../../terminal/output/session-view.js';
import { isCapableTerminal, ringOn } from '../../terminal/terminal.js';
import { TerminalSurface } from './terminal-surface.js';

export const lineView: OpenView = (host) => {
  const { machine, history, isVerbose } = host;
  const terminal = isCapableTerminal(machine)
    ? new KeyTerminal(machine, history)
    : new LineTerminal(machine);
  const narration = new FeedPrinter(terminal, { isVerbose });
  const surface = new TerminalSurface({
    terminal,
    say: (...lines) => narration.say(...lines),
    hold: () => narration.hold(),
    nameOf: (agent) => nameOfAgent(host, narration, agent),
    purposeOf: (agent) => narration.swarm.purposeOf(agent),
    ring: () => ringOn(machine),
    interruptRun: () => host.interruptRun(),
  });
  return {
    typing: terminal.isCapable ? 'keys' : 'lines',
    terminal,
    narration,
    surface,
    hear: () => {},
    queued: () => narration.remark('Sent; the agent reads it with its next step.'),
    forget: () => {},
    close: () => terminal.close(),
  };
};
