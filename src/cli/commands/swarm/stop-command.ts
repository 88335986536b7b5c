/** `skein stop`: stops an agent of a running swarm. */
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { type SteerFlags, steerRunningAgent } from './steer-running-agent.js';

export const stopCommand = (
  query: string,
  flags: SteerFlags,
  host: TerminalHost,
): Promise<number> => steerRunningAgent(query, (agent) => ({ type: 'stop', agent }), flags, host);
