/**
 * The second stage: which prompt it is. The first of these that is given holds:
 *
 *   override > coordinator > agent (a proactive one joins the default) > custom > default
 *
 * Who replaces the rules keeps the word of where it is, since nobody can work without. What is
 * appended comes last, but for an override, which is taken at its word. The system context ends it.
 */
import { identityPiece } from './assemble-prompt.js';
import type { Piece } from './section.js';

export interface PromptWishes {
  readonly override?: string | undefined;
  /** The words of a lead that only hands work on. */
  readonly coordinator?: string | undefined;
  readonly agent?: AgentPrompt | undefined;
  readonly custom?: string | undefined;
  readonly append?: string | undefined;
}

export interface AgentPrompt {
  readonly name: string;
  readonly path?: string;
  readonly text: string;
  readonly isProactive: boolean;
}

export const choosePrompt = (
  usual: readonly Piece[],
  wishes: PromptWishes,
  systemContext: readonly Piece[],
): readonly Piece[] => [...chosen(usual, wishes), ...systemContext];

const chosen = (usual: readonly Piece[], wishes: PromptWishes): readonly Piece[] => {
  const { override, append } = wishes;
  if (isSaid(override)) return [piece('override', 'host', override)];
  return [...base(usual, wishes), ...(isSaid(append) ? [piece('append', 'flag', append)] : [])];
};

const base = (
  usual: readonly Piece[],
  { coordinator, agent, custom }: PromptWishes,
): readonly Piece[] => {
  const place = usual.filter(({ name }) => name === 'env info');
  if (isSaid(coordinator))
    return [identityPiece, piece('coordinator', 'skein', coordinator), ...place];
  if (agent !== undefined) {
    const { name, path, text, isProactive } = agent;
    const own = piece(`agent ${name}`, 'agent', text, path);
    return isProactive ? [...usual, own] : [identityPiece, own, ...place];
  }
  return isSaid(custom) ? [piece('custom', 'flag', custom), ...place] : usual;
};

const isSaid = (text: string | undefined): text is string => text !== undefined && text !== '';

const piece = (name: string, source: string, text: string, path?: string): Piece => ({
  name,
  zone: 'dynamic',
  cacheClass: 'session',
  source,
  text,
  ...(path !== undefined && { path }),
});
