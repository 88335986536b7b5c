/** First stage: assembles the default prompt, static sections before dynamic sections. */
import type { ProviderName } from '../../protocol/model/providers.js';
import { BOUNDARY } from '../boundary.js';
import type { PromptPiece } from './section.js';
import { IDENTITY, STATIC_SECTIONS, staticSections } from './static-sections.js';

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

const staticPieces = (tools: readonly string[] | undefined): readonly PromptPiece[] =>
  (tools === undefined ? STATIC_SECTIONS : staticSections(tools)).map(({ name, text }) => ({
    name,
    zone: 'static',
    ...fixed,
    text,
  }));

const boundaryPiece: PromptPiece = { name: 'boundary', zone: 'boundary', ...fixed, text: BOUNDARY };

/** `tools` are the names of the tools that the prompt shows. Default: all tools. */
export const assemblePrompt = (
  dynamic: readonly PromptPiece[],
  includesBoundary: boolean,
  tools?: readonly string[],
): readonly PromptPiece[] => [
  identityPiece,
  ...staticPieces(tools),
  ...(includesBoundary ? [boundaryPiece] : []),
  ...dynamic,
];
