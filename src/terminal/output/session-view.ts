/** What a person has before them in a session: lines, or a screen. */
import type { LeadSession } from '../../actors/session/session.js';
import type { AgentMode, Surface } from '../../protocol/permission/permission.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import type { SessionStore } from '../../protocol/session/store.js';
import type { Typing } from '../input/slash-commands.js';
import type { Terminal } from '../terminal.js';
import type { TerminalHost } from '../terminal-host.js';
import type { FeedPrinter } from './feed-printer.js';

export interface SessionView {
  readonly typing: Typing;
  readonly terminal: Terminal;
  readonly narration: FeedPrinter;
  readonly surface: Surface;
  /** Everything that the session tells, before it is narrated. */
  hear(item: FeedItem): void;
  /** A prompt was sent while the agent works: it is read with the next step. */
  queued(text: string, isWaiting: () => boolean): void;
  /** Another session takes the place of the one that was shown. */
  forget(): void;
  /** Gives the terminal back as it was found. May be called again. */
  close(): void;
}

/** Where the session is and how it is set up, also before there is one. */
export interface SessionPlace {
  readonly model: string;
  readonly mode: AgentMode;
  readonly cwd: string;
}

/** What a face is told by whoever runs the session. */
export interface FaceHost {
  readonly machine: TerminalHost;
  /** Prompts of former days, oldest first; it grows meanwhile. */
  readonly history: readonly string[];
  readonly isVerbose: boolean;
  session(): LeadSession | undefined;
  /** Where it is kept; undefined before it has begun. */
  store(): SessionStore | undefined;
  place(): SessionPlace;
  interruptRun(): void;
  /** Goes on to the next permission mode. */
  nextMode(): void;
  onDefect(error: unknown): void;
}

export type OpenView = (host: FaceHost) => SessionView;

/** How people call an agent: the lead, or by what it is and its name. */
export const nameOfAgent = (host: FaceHost, narration: FeedPrinter, agent: string): string => {
  if (agent === host.session()?.meta.lead) return 'The leader';
  return `Agent ${narration.swarm.nameOf(agent) ?? agent}`;
};
