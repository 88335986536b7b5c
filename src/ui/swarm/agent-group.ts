/** How an agent is doing, in one of few words: what is counted, filtered, sorted and coloured by. */

import type { Paint } from '../../terminal/terminal.js';
import { placeOf } from '../../views/swarm/swarm-progress.js';
import type { AgentView } from '../../views/swarm/swarm-view.js';

/** What needs a person first comes first. */
export const GROUPS = ['asking', 'failed', 'waiting', 'running', 'idle', 'done'] as const;
export type AgentGroup = (typeof GROUPS)[number];

export const groupOf = (agent: AgentView): AgentGroup => {
  const place = placeOf(agent);
  switch (place) {
    case 'failed':
    case 'lost':
      return 'failed';
    case 'done':
    case 'stopped':
      return 'done';
    case 'resting':
      return 'idle';
    case 'queued':
      return 'waiting';
    default:
      return agent.questions.length > 0 ? 'asking' : place;
  }
};

export const isLive = ({ status }: AgentView): boolean =>
  status === 'running' || status === 'queued' || status === 'idle';

/** Each has a sign of its own, so that colour only helps. */
const SIGNS: Readonly<Record<AgentGroup, readonly [unicode: string, ascii: string]>> = {
  asking: ['?', '?'],
  failed: ['✗', 'x'],
  waiting: ['◌', '~'],
  running: ['●', '*'],
  idle: ['○', 'o'],
  done: ['✓', '.'],
};

export const signOf = (group: AgentGroup, unicode: boolean): string =>
  SIGNS[group][unicode ? 0 : 1];

export const paintGroup = (group: AgentGroup, paint: Paint): ((text: string) => string) => {
  switch (group) {
    case 'asking':
      return paint.warn;
    case 'failed':
      return paint.alarm;
    case 'waiting':
      return paint.accent;
    case 'running':
      return paint.good;
    default:
      return paint.dim;
  }
};
