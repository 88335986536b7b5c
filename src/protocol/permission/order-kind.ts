/** Kinds of orders that text from outside may give to its reader. */
export const ORDER_KINDS = [
  'override',
  'role',
  'addressed',
  'secrecy',
  'disclosure',
  'approval',
  'imitation',
] as const;

export type OrderKind = (typeof ORDER_KINDS)[number];
