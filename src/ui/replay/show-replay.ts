/** Shows a replay: a swarm screen that plays a log, with a transport line and without steering. */

import { formatAgent } from '../../terminal/format/format-agent.js';
import { formatEvent } from '../../terminal/format/format-event.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { plainText } from '../../terminal/text/sanitize.js';
import { keyName } from '../screen/key-name.js';
import { terminalStyle } from '../screen/terminal-style.js';
import { showSwarmScreen } from '../swarm/show-swarm-screen.js';
import { replayKeys } from './replay-keys.js';
import type { ReplaySource } from './replay-source.js';
import { TransportLine } from './transport-line.js';

/** Returns the last event with its agent. */
const newsOf = (source: ReplaySource): string => {
  const event = source.latest();
  if (event === undefined) return '';
  const [swarm] = source.swarms();
  const agent = swarm?.agents.find(({ id }) => id === event.agent);
  const name =
    agent === undefined ? plainText(event.agent, 20) : formatAgent(agent, agent.id.slice(0, 8));
  return `${name}: ${formatEvent(event)}`;
};

/** Plays from the current position. Resolves with how the screen was left; rejects with a defect. */
export const showReplay = async (
  host: TerminalHost,
  source: ReplaySource,
): Promise<'left' | 'ended'> => {
  const { clock } = source;
  const transport = new TransportLine(clock, terminalStyle(host), () => newsOf(source));
  // A replay that was opened at its end stays there.
  if (!clock.isAtEnd) clock.toggle();
  source.clockChanged();
  try {
    return await showSwarmScreen(host, {
      source,
      title: source.isOver ? 'skein replay' : 'skein replay, so far',
      hints: replayKeys.hints,
      help: replayKeys.help,
      done: Promise.resolve(),
      line: (width) => transport.text(width),
      press: (key) => {
        const isHandled = replayKeys.press(clock, keyName(key));
        if (isHandled) source.clockChanged();
        return isHandled;
      },
    });
  } finally {
    source.close();
  }
};
