/** `skein sim`: runs the simulator as a server. Prints its URL and serves until Ctrl-C. */
import { UsageError } from '../../../protocol/skein-error.js';
import { ECHO_SCRIPT, loadScript } from '../../../simulator/script.js';
import { startSimulator } from '../../../simulator/start-simulator.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { ExitCode } from '../../session/exit-code.js';

export const simCommand = async (
  flags: { port: string; script?: string },
  host: TerminalHost,
): Promise<number> => {
  const port = Number(flags.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new UsageError(`--port ${flags.port} is not a port: give a number from 0 to 65535.`);
  }
  const script = flags.script === undefined ? ECHO_SCRIPT : await loadScript(flags.script);
  const simulator = await startSimulator({ script, port });
  host.out(`${simulator.url}\n`);
  await new Promise<void>((resolve) => {
    host.onInterrupt(resolve);
  });
  await simulator.close();
  return ExitCode.done;
};
