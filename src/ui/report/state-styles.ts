/** The states of an agent as the page shows them: an order, a class of the style, and a few words. */
import { type Html, html } from './html-text.js';

interface StateLook {
  readonly className: string;
  readonly meaning: string;
}

/** From what costs to what only waits. */
const LOOKS: ReadonlyMap<string, StateLook> = new Map(
  Object.entries({
    streaming: 'the model answers',
    'tool-running': 'a tool works',
    'awaiting-permission': 'somebody has to answer a question',
    compacting: 'older messages are summarised',
    retrying: 'an attempt failed, and is made again',
    waiting: 'a request may not leave yet',
    queued: 'waits for a place among those that work',
    lost: 'the process that ran it was gone',
    idle: 'rests, or waits for others',
  }).map(([state, meaning]) => [state, { className: `s-${state}`, meaning }]),
);

const UNKNOWN: StateLook = { className: 's-other', meaning: 'a state of a later version' };

export const lookOf = (state: string): StateLook => LOOKS.get(state) ?? UNKNOWN;

const ORDER: readonly string[] = [...LOOKS.keys()];

/** Those in the order of the page, each once; unknown ones last. */
export const inOrder = (states: Iterable<string>): readonly string[] => {
  const rank = (state: string) => (LOOKS.has(state) ? ORDER.indexOf(state) : ORDER.length);
  return [...new Set(states)].sort((one, other) => rank(one) - rank(other));
};

/** Those that only wait are drawn as a thin line, so that work stands out. */
export const isThin = (state: string): boolean => state === 'idle' || state === 'queued';

/** A small square in the colour of a class of the style. */
export const swatch = (className: string): Html =>
  html`<svg class="swatch" viewBox="0 0 10 10" aria-hidden="true"><rect class="${className}" width="10" height="10" rx="2"/></svg>`;
