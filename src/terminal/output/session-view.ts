/** Session view: how a session is shown, as lines or as a screen. */
import type { LeadSession } from '../../actors/session/lead-session.js';
import type { AgentMode } from '../../protocol/permission/permission-mode.js';
import type { Surface } from '../../protocol/permission/permission-question.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import type { InputMode } from '../input/slash-commands.js';
import type { Terminal } from '../terminal.js';
import type { TerminalHost } from '../terminal-host.js';
import type { FeedPrinter } from './feed-printer.js';

export interface SessionView {
  readonly inputMode: InputMode;
  readonly terminal: Terminal;
  readonly printer: FeedPrinter;
  readonly surface: Surface;
  /** Receives every feed item of the session, before the printer does. */
  receive(item: FeedItem): void;
  /** Shows a prompt that was sent during a run. `isWaiting`: true until the agent has read it. */
  promptQueued(text: string, isWaiting: () => boolean): void;
  /** Clears the view for another session. */
  reset(): void;
  /** Restores the terminal. Idempotent. */
  close(): void;
}

/** Facts of a session that are known before it starts. */
export interface SessionFacts {
  readonly model: string;
  readonly mode: AgentMode;
  readonly cwd: string;
}

/** Access of a view to the session and its process. */
export interface SessionViewDeps {
  readonly host: TerminalHost;
  /** Earlier prompts, oldest first. It grows with every prompt. */
  readonly history: readonly string[];
  readonly isVerbose: boolean;
  /** Returns undefined before the session starts. */
  session(): LeadSession | undefined;
  /** Returns undefined before the session starts. */
  store(): SessionStore | undefined;
  facts(): SessionFacts;
  interruptRun(): void;
  /** Switches to the next permission mode. */
  nextMode(): void;
  onDefect(error: unknown): void;
}

export type OpenView = (deps: SessionViewDeps) => SessionView;

/** Returns the display name of an agent: `The lead`, or its type and name. */
export const nameOfAgent = (deps: SessionViewDeps, printer: FeedPrinter, agent: string): string => {
  if (agent === deps.session()?.meta.lead) return 'The lead';
  return `Agent ${printer.swarm.nameOf(agent) ?? agent}`;
};
