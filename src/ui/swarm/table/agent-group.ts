/** Agent group: the condition of an agent, for counts, filters, order and colours. */

import type { Paint } from '../../../terminal/terminal.js';
import { progressGroup } from '../../../views/swarm/swarm-progress.js';
import type { AgentView } from '../../../views/swarm/swarm-view.js';

/** All groups by urgency for a person, the most urgent first. */
export const AGENT_GROUPS = ['asking', 'failed', 'waiting', 'running', 'idle', 'done'] as const;
export type AgentGroup = (typeof AGENT_GROUPS)[number];

export const groupOf = (agent: AgentView): AgentGroup => {
  const state = progressGroup(agent);
  switch (state) {
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
      return agent.questions.length > 0 ? 'asking' : state;
  }
};

export const isLiveAgent = ({ status }: AgentView): boolean =>
  status === 'running' || status === 'queued' || status === 'idle';

/** Each group has its own sign, so colour is only a help. */
const SIGNS: Readonly<Record<AgentGroup, readonly [unicode: string, ascii: string]>> = {
  asking: ['?', '?'],
  failed: ['✗', 'x'],
  waiting: ['◌', '~'],
  running: ['●', '*'],
  idle: ['○', 'o'],
  done: ['✓', '.'],
};

export const groupSign = (group: AgentGroup, isUnicode: boolean): string =>
  SIGNS[group][isUnicode ? 0 : 1];

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
