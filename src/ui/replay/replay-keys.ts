/** Replay keys: keys that a replay adds to the swarm screen, with their hints and help. */
import type { Hint } from '../swarm/hint-line.js';
import type { ReplayClock } from './replay-clock.js';

const ACTIONS: Readonly<Record<string, (clock: ReplayClock) => unknown>> = {
  space: (clock) => clock.toggle(),
  b: (clock) => clock.reverse(),
  '+': (clock) => clock.faster(),
  '=': (clock) => clock.faster(),
  '-': (clock) => clock.slower(),
  f: (clock) => clock.toggleFast(),
  '.': (clock) => clock.step(1),
  ',': (clock) => clock.step(-1),
  '>': (clock) => clock.jump(1),
  '<': (clock) => clock.jump(-1),
  n: (clock) => clock.seekMark(1),
  N: (clock) => clock.seekMark(-1),
  home: (clock) => clock.stopAtStart(),
  end: (clock) => clock.stopAtEnd(),
};

/** Applies a key, as spelled by `keyName`. Returns false if the replay does not use the key. */
const press = (clock: ReplayClock, key: string): boolean => {
  const action = Object.hasOwn(ACTIONS, key) ? ACTIONS[key] : undefined;
  action?.(clock);
  return action !== undefined;
};

const hints: readonly Hint[] = [
  { key: 'Space', text: 'play' },
  { key: '+ -', text: 'speed' },
  { key: ', .', text: 'step' },
  { key: '< >', text: '5 %' },
  { key: 'n N', text: 'marks' },
];

const help: readonly Hint[] = [
  { key: 'Space b', text: 'play or pause; reverse the direction' },
  { key: '+ - f', text: 'faster, slower, as fast as possible' },
  { key: ', .', text: 'one event back or forward' },
  { key: '< >', text: 'back or forward by 5 %' },
  { key: 'n N', text: 'next or last question, failure or end' },
  { key: 'Home End', text: 'the start or end of the log' },
];

export const replayKeys = { press, hints, help };
