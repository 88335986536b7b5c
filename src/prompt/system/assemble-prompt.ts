/** The first stage: the default prompt, from the words that never vary to those that do. */
import type { ProviderName } from '../../protocol/model/providers.js';
import type { Piece } from './section.js';
import { IDENTITY, STATIC_SECTIONS } from './static-zone.js';
import { BOUNDARY } from './system-prompt.js';

/** Only there can what follows the boundary differ without voiding what everybody shares. */
export const hasBoundary = (provider: ProviderName, betasDisabled: boolean): boolean =>
  provider === 'firstParty' && !betasDisabled;

const fixed = { cacheClass: 'global', source: 'skein' } as const;

export const identityPiece: Piece = {
  name: 'identity',
  zone: 'identity',
  ...fixed,
  text: IDENTITY,
};

const staticPieces: readonly Piece[] = STATIC_SECTIONS.map(({ name, text }) => ({
  name,
  zone: 'static',
  ...fixed,
  text,
}));

const boundaryPiece: Piece = { name: 'boundary', zone: 'boundary', ...fixed, text: BOUNDARY };

export const assemblePrompt = (
  dynamic: readonly Piece[],
  withBoundary: boolean,
): readonly Piece[] => [
  identityPiece,
  ...staticPieces,
  ...(withBoundary ? [boundaryPiece] : []),
  ...dynamic,
];
