/** `skein send`: sends a message to an agent of a running swarm. */
import { UsageError } from '../../../protocol/skein-error.js';
import { refusalOfText } from '../../../sdk/control/steer-agent.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { readPrompt } from '../../print/read-prompt.js';
import { type SteerFlags, steerRunningAgent } from './steer-running-agent.js';

export const sendCommand = async (
  query: string,
  message: string | undefined,
  flags: SteerFlags,
  host: TerminalHost,
): Promise<number> => {
  const text = message ?? (await readPiped(host));
  if (text.trim() === '') throw new UsageError(NO_TEXT);
  const refusal = refusalOfText(text);
  if (refusal !== undefined) throw new UsageError(refusal);
  return steerRunningAgent(query, (agent) => ({ type: 'send', agent, text }), flags, host);
};

const NO_TEXT = 'There is no message: give one, as in skein send lead "…", or pipe one in.';

const readPiped = (host: TerminalHost): Promise<string> => {
  if (host.stdin.isTTY !== true) return readPrompt(undefined, host, NO_TEXT);
  throw new UsageError(NO_TEXT);
};
