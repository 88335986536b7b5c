/** First stage: assembles the default prompt, static sections before dynamic sections. */
import type { ProviderName } from '../../protocol/model/providers.js';
import { BOUNDARY } from '../boundary.js';
import type { PromptPiece } from './section.js';
import { IDENTITY, STATIC_SECTIONS } from './static-sections.js';

/** True if the provider can cache the static zone separately from the text after the boundary. */
export const hasBoundary = (provider: ProviderName, areBetasDisabled: boolean): boolean =>
  provider === 'firstParty' && !areBetasDisabled;

const fixed = { cacheClass: 'global', source: 'skein' } as const;

export const identityPiece: PromptPiece = {
  name: 'identity',
  zone: 'identity',
  ...fixed,
  text: IDENTITY,
};

const staticPieces: readonly PromptPiece[] = STATIC_SECTIONS.map(({ name, text }) => ({
  name,
  zone: 'static',
  ...fixed,
  text,
}));

const boundaryPiece: PromptPiece = { name: 'boundary', zone: 'boundary', ...fixed, text: BOUNDARY };

export const assemblePrompt = (
  dynamic: readonly PromptPiece[],
  includesBoundary: boolean,
): readonly PromptPiece[] => [
  identityPiece,
  ...staticPieces,
  ...(includesBoundary ? [boundaryPiece] : []),
  ...dynamic,
];
