/** Context use of an agent for a status line, from figures that are already in memory. */
import type { LeadSession } from '../../actors/session/lead-session.js';
import {
  type WindowLevel,
  type WindowThresholds,
  windowLevel,
} from '../../context/window/window-thresholds.js';

export interface ContextUse {
  /** Estimated tokens of the next prompt: counted by the last response, then four bytes per token. */
  readonly tokens: number;
  readonly window: number;
  readonly warnAbove: number;
  readonly compactAbove: number;
  readonly level: WindowLevel;
}

export const contextUse = (tokens: number, marks: WindowThresholds): ContextUse => {
  const { window, warnAbove, compactAbove } = marks;
  return { tokens, window, warnAbove, compactAbove, level: windowLevel(tokens, marks) };
};

/** Returns the context use of the lead, in the process that runs it. */
export const contextUseOf = ({
  journal,
  window,
}: Pick<LeadSession, 'journal' | 'window'>): ContextUse =>
  contextUse(journal.history.tokens, window);
