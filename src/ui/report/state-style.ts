/** State style: order, CSS class and meaning of each agent state on the page. */
import { type Html, html } from './html.js';

interface StateStyle {
  readonly className: string;
  readonly meaning: string;
}

/** States in page order, from states that cost money to states that only wait. */
const STYLES: ReadonlyMap<string, StateStyle> = new Map(
  Object.entries({
    streaming: 'the model answers',
    'tool-running': 'a tool runs',
    'awaiting-permission': 'a question waits for an answer',
    compacting: 'older messages are summarised',
    retrying: 'an attempt failed and is repeated',
    waiting: 'a request waits to be sent',
    queued: 'waits for a slot',
    lost: 'its process died',
    idle: 'idle, or waits for other agents',
  }).map(([state, meaning]) => [state, { className: `s-${state}`, meaning }]),
);

const UNKNOWN: StateStyle = { className: 's-other', meaning: 'a state of a later version' };

export const stateStyle = (state: string): StateStyle => STYLES.get(state) ?? UNKNOWN;

const ORDER: readonly string[] = [...STYLES.keys()];

/** Returns the different states in page order; unknown states come last. */
export const sortedStates = (states: Iterable<string>): readonly string[] => {
  const rank = (state: string) => (STYLES.has(state) ? ORDER.indexOf(state) : ORDER.length);
  return [...new Set(states)].sort((a, b) => rank(a) - rank(b));
};

/** True for waiting states, which are drawn as a thin line so that work stands out. */
export const isThin = (state: string): boolean => state === 'idle' || state === 'queued';

/** Returns a small square in the colour of a CSS class. */
export const swatch = (className: string): Html =>
  html`<svg class="swatch" viewBox="0 0 10 10" aria-hidden="true"><rect class="${className}" width="10" height="10" rx="2"/></svg>`;
