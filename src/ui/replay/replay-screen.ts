/** A swarm screen that plays a log back, with the tape below it. Nothing can be done to what is over. */

import { whoText } from '../../terminal/format/format-agent.js';
import { eventWords } from '../../terminal/format/format-event.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { plainText } from '../../terminal/text/sanitize.js';
import { keyName } from '../screen/key-name.js';
import { lookOn } from '../screen/terminal-style.js';
import { showSwarmScreen } from '../swarm/swarm-screen.js';
import { pressOn, REPLAY_HELP, REPLAY_HINTS } from './replay-keys.js';
import type { ReplaySource } from './replay-source.js';
import { TransportLine } from './transport-line.js';

/** Who did what. */
const newsOf = (source: ReplaySource): string => {
  const event = source.latest();
  if (event === undefined) return '';
  const [swarm] = source.swarms();
  const agent = swarm?.agents.find(({ id }) => id === event.agent);
  const who =
    agent === undefined ? plainText(event.agent, 20) : whoText(agent, agent.id.slice(0, 8));
  return `${who}: ${eventWords(event)}`;
};

/** How it was left. The tape plays from where it is. */
export const showReplay = async (
  machine: TerminalHost,
  source: ReplaySource,
): Promise<'left' | 'ended'> => {
  const { tape } = source;
  const transport = new TransportLine(tape, lookOn(machine), () => newsOf(source));
  // Whoever wants to see the end has it.
  if (!tape.isAtEnd) tape.toggle();
  source.moved();
  try {
    return await showSwarmScreen(machine, {
      source,
      title: source.isOver ? 'skein replay' : 'skein replay, so far',
      hints: REPLAY_HINTS,
      help: REPLAY_HELP,
      done: Promise.resolve(),
      line: (width) => transport.text(width),
      press: (key) => {
        const isOwn = pressOn(tape, keyName(key));
        if (isOwn) source.moved();
        return isOwn;
      },
    });
  } finally {
    source.close();
  }
};
