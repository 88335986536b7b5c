/**
 * Second stage: chooses the prompt. The first of these that is set applies:
 *
 *   override > coordinator > agent (a proactive agent joins the default) > custom > default
 *
 * Every choice except an override keeps the environment section, because agents cannot work without
 * it, and puts the appended text last. The system context always ends the prompt.
 */
import { identityPiece } from './assemble-prompt.js';
import type { PromptPiece } from './section.js';

export interface PromptChoices {
  readonly override?: string | undefined;
  /** Prompt of a lead that only delegates. */
  readonly coordinator?: string | undefined;
  readonly agent?: AgentPrompt | undefined;
  readonly custom?: string | undefined;
  readonly append?: string | undefined;
}

interface AgentPrompt {
  readonly name: string;
  readonly path?: string;
  readonly text: string;
  readonly isProactive: boolean;
}

export const choosePrompt = (
  usual: readonly PromptPiece[],
  choices: PromptChoices,
  systemContext: readonly PromptPiece[],
): readonly PromptPiece[] => [...chosen(usual, choices), ...systemContext];

const chosen = (usual: readonly PromptPiece[], choices: PromptChoices): readonly PromptPiece[] => {
  const { override, append } = choices;
  if (isSet(override)) return [piece('override', 'host', override)];
  return [...base(usual, choices), ...(isSet(append) ? [piece('append', 'flag', append)] : [])];
};

const base = (
  usual: readonly PromptPiece[],
  { coordinator, agent, custom }: PromptChoices,
): readonly PromptPiece[] => {
  const environment = usual.filter(({ name }) => name === 'env info');
  if (isSet(coordinator))
    return [identityPiece, piece('coordinator', 'skein', coordinator), ...environment];
  if (agent !== undefined) {
    const { name, path, text, isProactive } = agent;
    const own = piece(`agent ${name}`, 'agent', text, path);
    return isProactive ? [...usual, own] : [identityPiece, own, ...environment];
  }
  return isSet(custom) ? [piece('custom', 'flag', custom), ...environment] : usual;
};

const isSet = (text: string | undefined): text is string => text !== undefined && text !== '';

const piece = (name: string, source: string, text: string, path?: string): PromptPiece => ({
  name,
  zone: 'dynamic',
  cacheClass: 'session',
  source,
  text,
  ...(path !== undefined && { path }),
});
