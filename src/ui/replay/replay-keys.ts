/** The keys that a replay has beside those of the swarm screen: what each does to the tape. */
import type { Hint } from '../swarm/hint-line.js';
import type { ReplayClock } from './replay-clock.js';

const ACTS: Readonly<Record<string, (tape: ReplayClock) => unknown>> = {
  space: (tape) => tape.toggle(),
  b: (tape) => tape.turnRound(),
  '+': (tape) => tape.faster(),
  '=': (tape) => tape.faster(),
  '-': (tape) => tape.slower(),
  f: (tape) => tape.toggleFast(),
  '.': (tape) => tape.step(1),
  ',': (tape) => tape.step(-1),
  '>': (tape) => tape.jump(1),
  '<': (tape) => tape.jump(-1),
  n: (tape) => tape.seekMark(1),
  N: (tape) => tape.seekMark(-1),
  home: (tape) => tape.restAtStart(),
  end: (tape) => tape.restAtEnd(),
};

/** False for a key that is none of its own. `key` as `keyName` spells it. */
export const pressOn = (tape: ReplayClock, key: string): boolean => {
  const act = Object.hasOwn(ACTS, key) ? ACTS[key] : undefined;
  act?.(tape);
  return act !== undefined;
};

export const REPLAY_HINTS: readonly Hint[] = [
  { key: 'Space', says: 'play' },
  { key: '+ -', says: 'speed' },
  { key: ', .', says: 'step' },
  { key: '< >', says: '5 %' },
  { key: 'n N', says: 'marks' },
];

export const REPLAY_HELP: readonly Hint[] = [
  { key: 'Space b', says: 'play or pause; the other way round' },
  { key: '+ - f', says: 'faster, slower, as fast as possible' },
  { key: ', .', says: 'an event back or on' },
  { key: '< >', says: 'back or on by 5 %' },
  { key: 'n N', says: 'next or last question, failure or end' },
  { key: 'Home End', says: 'the beginning or end of the log' },
];
