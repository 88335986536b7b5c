/** Line view of a session: single keys if the terminal supports them, otherwise whole lines. */
import { KeyTerminal } from '../../terminal/input/key-terminal.js';
import { LineTerminal } from '../../terminal/input/line-terminal.js';
import { FeedPrinter } from '../../terminal/output/feed-printer.js';
import { nameOfAgent, type OpenView } from '../../terminal/output/session-view.js';
import { isCapableTerminal, ringBell } from '../../terminal/terminal.js';
import { TerminalSurface } from './terminal-surface.js';

export const lineView: OpenView = (options) => {
  const { host, history, isVerbose } = options;
  const terminal = isCapableTerminal(host)
    ? new KeyTerminal(host, history)
    : new LineTerminal(host);
  const printer = new FeedPrinter(terminal, { isVerbose });
  const surface = new TerminalSurface({
    terminal,
    print: (...lines) => printer.printLines(...lines),
    holdOutput: () => printer.pause(),
    nameOf: (agent) => nameOfAgent(options, printer, agent),
    purposeOf: (agent) => printer.swarm.purposeOf(agent),
    alert: () => ringBell(host),
    interruptRun: () => options.interruptRun(),
  });
  return {
    inputMode: terminal.isCapable ? 'keys' : 'lines',
    terminal,
    printer,
    surface,
    receive: () => {},
    promptQueued: () => printer.remark('Sent; the agent reads it with its next step.'),
    reset: () => {},
    close: () => terminal.close(),
  };
};
