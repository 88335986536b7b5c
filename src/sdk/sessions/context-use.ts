/** How full the window of an agent is, for a status line: figures that are there already, so that asking costs nothing. */
import type { LeadSession } from '../../actors/session/lead-session.js';
import { type WindowLevel, type WindowMarks, windowLevel } from '../../context/window/window.js';

export interface ContextUse {
  /** Of the next prompt: what the last answer counted, and four bytes a token for what came since. */
  readonly tokens: number;
  readonly window: number;
  readonly warnAbove: number;
  readonly compactAbove: number;
  readonly level: WindowLevel;
}

export const contextUse = (tokens: number, marks: WindowMarks): ContextUse => {
  const { window, warnAbove, compactAbove } = marks;
  return { tokens, window, warnAbove, compactAbove, level: windowLevel(tokens, marks) };
};

/** Of the lead, in the process that runs it. */
export const contextUseOf = ({
  notebook,
  window,
}: Pick<LeadSession, 'notebook' | 'window'>): ContextUse =>
  contextUse(notebook.history.tokens, window);
