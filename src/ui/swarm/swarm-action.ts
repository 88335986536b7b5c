/** Swarm actions: the keys of the swarm screen, with their hints and help. */
import type { Hint } from './hint-line.js';

/** Keys by action, as spelled by `keyName`. */
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

export type SwarmAction = keyof typeof KEYS;

const ACTIONS: ReadonlyMap<string, SwarmAction> = new Map(
  (Object.entries(KEYS) as [SwarmAction, readonly string[]][]).flatMap(([action, keys]) =>
    keys.map((key) => [key, action] as const),
  ),
);

export const actionForKey = (key: string): SwarmAction | undefined => ACTIONS.get(key);

/** Help lines in display order. */
export const SWARM_HELP: readonly (Hint & { readonly isSteering?: boolean })[] = [
  { key: 'Up Down j k', text: 'move; in a transcript, scroll' },
  { key: 'PgUp PgDn', text: 'a page up or down' },
  { key: 'Home End g G', text: 'first or last; End follows new lines' },
  { key: 'Left Right h l', text: 'fold, unfold; go to the parent' },
  { key: 'Space z', text: 'fold or unfold the agent, or all' },
  { key: 's S', text: 'change or reverse the sort order' },
  { key: 'f', text: 'only live, waiting, asking or failed' },
  { key: '/', text: 'only agents with this text' },
  { key: 'Tab', text: 'to the detail and back' },
  { key: 'd', text: 'show or hide the detail' },
  { key: 'Enter o', text: 'transcript on the full screen' },
  { key: 'm', text: 'send a message', isSteering: true },
  { key: 'x', text: 'stop the agent and its descendants', isSteering: true },
  { key: 'r', text: 'resume the agent', isSteering: true },
  { key: '?', text: 'these keys' },
  { key: 'Esc', text: 'back: from the detail, to all agents' },
  { key: 'q', text: 'leave' },
];

interface SwarmHintState {
  readonly focus: 'tree' | 'detail' | 'transcript';
  readonly canSteer: boolean;
  readonly isFiltered: boolean;
}

/** Returns the keys that work now, the most useful first and the key that leaves last. */
export const swarmHints = ({ focus, canSteer, isFiltered }: SwarmHintState): readonly Hint[] => {
  const steering = canSteer
    ? [
        { key: 'm', text: 'message' },
        { key: 'x', text: 'stop' },
        { key: 'r', text: 'resume' },
      ]
    : [];
  if (focus === 'transcript') {
    return [
      { key: 'Up Down PgUp PgDn', text: 'scroll' },
      { key: 'End', text: 'follow' },
      ...steering,
      { key: 'q', text: 'back' },
    ];
  }
  if (focus === 'detail') {
    return [
      { key: 'Tab', text: 'tree' },
      { key: 'Up Down', text: 'scroll' },
      { key: 'Enter', text: 'open' },
      ...steering,
      { key: '?', text: 'help' },
      { key: 'q', text: 'leave' },
    ];
  }
  return [
    { key: '?', text: 'help' },
    { key: 'Enter', text: 'open' },
    ...steering,
    { key: 'Tab', text: 'detail' },
    { key: 'Space', text: 'fold' },
    { key: 's', text: 'sort' },
    { key: 'f', text: 'filter' },
    { key: '/', text: 'find' },
    ...(isFiltered ? [{ key: 'Esc', text: 'show all' }] : []),
    { key: 'q', text: 'leave' },
  ];
};

export const keysOfHints = (hints: readonly Hint[]): ReadonlySet<string> =>
  new Set(hints.flatMap(({ key }) => key.split(' ')));

/** Removes taken keys from a hint. Returns no hint if no key is left. */
export const withoutKeys = ({ key, text }: Hint, taken: ReadonlySet<string>): readonly Hint[] => {
  const left = key.split(' ').filter((name) => !taken.has(name));
  return left.length === 0 ? [] : [{ key: left.join(' '), text }];
};
