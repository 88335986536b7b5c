/** The keys of a swarm screen: what each does, and how that is told to people. */
import type { Hint } from './hint-line.js';

/** As `keyName` spells them. */
const KEYS = {
  up: ['up', 'k', 'C-p'],
  down: ['down', 'j', 'C-n'],
  'page-up': ['pageup', 'C-b'],
  'page-down': ['pagedown', 'C-f'],
  home: ['home', 'g'],
  end: ['end', 'G'],
  fold: ['left', 'h'],
  unfold: ['right', 'l'],
  toggle: ['space'],
  'toggle-all': ['z'],
  order: ['s'],
  reverse: ['S'],
  filter: ['f'],
  search: ['/'],
  focus: ['tab', 'S-tab'],
  detail: ['d'],
  open: ['return', 'o'],
  message: ['m'],
  stop: ['x'],
  resume: ['r'],
  help: ['?'],
  back: ['escape'],
  leave: ['q', 'C-c'],
} as const;

export type BoardAction = keyof typeof KEYS;

const ACTIONS: ReadonlyMap<string, BoardAction> = new Map(
  (Object.entries(KEYS) as [BoardAction, readonly string[]][]).flatMap(([action, keys]) =>
    keys.map((key) => [key, action] as const),
  ),
);

export const actionOf = (key: string): BoardAction | undefined => ACTIONS.get(key);

/** In the order in which they are told. */
export const HELP: readonly (Hint & { readonly isSteering?: boolean })[] = [
  { key: 'Up Down j k', says: 'move; in a transcript, scroll' },
  { key: 'PgUp PgDn', says: 'a page up or down' },
  { key: 'Home End g G', says: 'first or last; an end goes on' },
  { key: 'Left Right h l', says: 'fold, unfold; to whom it works for' },
  { key: 'Space z', says: 'fold or unfold it, or all' },
  { key: 's S', says: 'sort otherwise, or the other way' },
  { key: 'f', says: 'only who lives, waits, asks, failed' },
  { key: '/', says: 'only those with these words' },
  { key: 'Tab', says: 'to the detail and back' },
  { key: 'd', says: 'show or hide the detail' },
  { key: 'Enter o', says: 'its transcript on the whole screen' },
  { key: 'm', says: 'write to it', isSteering: true },
  { key: 'x', says: 'stop it, and all that work for it', isSteering: true },
  { key: 'r', says: 'let it go on', isSteering: true },
  { key: '?', says: 'these keys' },
  { key: 'Esc', says: 'back: from the detail, to all agents' },
  { key: 'q', says: 'leave' },
];

export interface KeyState {
  readonly place: 'tree' | 'detail' | 'transcript';
  readonly canSteer: boolean;
  readonly isFiltered: boolean;
}

/** What works now, the most wanted first, and the way out at the end. */
export const hintsFor = ({ place, canSteer, isFiltered }: KeyState): readonly Hint[] => {
  const steering = canSteer
    ? [
        { key: 'm', says: 'message' },
        { key: 'x', says: 'stop' },
        { key: 'r', says: 'resume' },
      ]
    : [];
  if (place === 'transcript') {
    return [
      { key: 'Up Down PgUp PgDn', says: 'scroll' },
      { key: 'End', says: 'follow' },
      ...steering,
      { key: 'q', says: 'back' },
    ];
  }
  if (place === 'detail') {
    return [
      { key: 'Tab', says: 'tree' },
      { key: 'Up Down', says: 'scroll' },
      { key: 'Enter', says: 'open' },
      ...steering,
      { key: '?', says: 'help' },
      { key: 'q', says: 'leave' },
    ];
  }
  return [
    { key: '?', says: 'help' },
    { key: 'Enter', says: 'open' },
    ...steering,
    { key: 'Tab', says: 'detail' },
    { key: 'Space', says: 'fold' },
    { key: 's', says: 'sort' },
    { key: 'f', says: 'filter' },
    { key: '/', says: 'find' },
    ...(isFiltered ? [{ key: 'Esc', says: 'show all' }] : []),
    { key: 'q', says: 'leave' },
  ];
};

export const keysIn = (hints: readonly Hint[]): ReadonlySet<string> =>
  new Set(hints.flatMap(({ key }) => key.split(' ')));

/** The same line without keys that do something else here; none where no key is left. */
export const without = ({ key, says }: Hint, taken: ReadonlySet<string>): readonly Hint[] => {
  const left = key.split(' ').filter((name) => !taken.has(name));
  return left.length === 0 ? [] : [{ key: left.join(' '), says }];
};
