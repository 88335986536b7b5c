/** Lets other terminals answer a run's questions, write to its agents and stop them. */
import { firstAnswerWins, inboxSurface } from '../../actors/permissions/inbox-surface.js';
import { relayQuestions } from '../../actors/remote/relay-questions.js';
import { type CommandServer, openCommandServer } from '../../actors/session/command-server.js';
import type { LeadSession } from '../../actors/session/lead-session.js';
import { stateLayout } from '../../config/workspace/state-layout.js';
import type { SwarmControl } from '../../protocol/agent/swarm-command.js';
import { systemClock } from '../../protocol/clock.js';
import { randomIds } from '../../protocol/ids.js';
import type { PermissionQuestion, Surface } from '../../protocol/permission/permission-question.js';
import type { KnownSurface } from '../../protocol/permission/signed-answer.js';
import type { PostedQuestion } from '../../protocol/session/question-board.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { UsageError } from '../../protocol/skein-error.js';
import { openPersonKey, type PersonKey } from '../../store/files/person-key.js';
import type { HostEnvironment } from './options/host-environment.js';
import type { RunOptions } from './options/run-options.js';

export interface AnswerChannels {
  /** Returns the surfaces to ask: the host's own surfaces and the inbox of the session. */
  surfaces(session: string, own: readonly KnownSurface[]): readonly KnownSurface[];
  /** Starts to take commands for the session. Returns undefined if the session is not persisted. */
  serveCommands(
    session: Pick<LeadSession, 'id' | 'fence'>,
    control: SwarmControl,
  ): CommandServer | undefined;
}

interface AnswerChannelsOptions {
  readonly host: Pick<HostEnvironment, 'notify'>;
  readonly flags: RunOptions;
  readonly store: Pick<SessionStore, 'mailbox' | 'questions' | 'jobs'>;
  readonly skeinHome: string;
  /** Public keys of people who may answer from other machines. */
  readonly personKeys: readonly string[];
  /** The host's own surfaces, by name. */
  readonly surfaces: Readonly<Record<string, Surface>>;
}

/** Throws UsageError if `--ask` is given and the session or the person's key cannot be persisted. */
export const answerChannels = (options: AnswerChannelsOptions): AnswerChannels => {
  const { host, flags, store, skeinHome } = options;
  const isOnDisk = flags.sessionPersistence !== false;
  if (flags.ask === true && !isOnDisk) {
    throw new UsageError('--ask needs a session on disk: leave out --no-session-persistence.');
  }
  const key = isOnDisk ? keyFor(options, stateLayout(skeinHome).keys) : undefined;
  /** Ids of open questions of this process. */
  const openQuestions = new Set<string>();
  return {
    surfaces(session, own) {
      if (key === undefined) return own;
      const { board, decisions } = store.questions(session);
      void board.clear();
      const inbox = inboxSurface({
        clock: systemClock,
        isOptional: flags.ask !== true,
        onPosted: flags.ask === true ? notifyHowToAnswer(host) : undefined,
        board,
        decisions,
        publicKeys: [key.publicKey, ...options.personKeys],
        others: own.map(({ id, publicKey }) => ({ id, publicKey })),
      });
      return [...own.map((surface) => firstAnswerWins(surface, decisions)), inbox].map((surface) =>
        trackingOpenQuestions(surface, openQuestions),
      );
    },
    serveCommands({ id, fence }, control) {
      if (!isOnDisk) return undefined;
      const mailbox = store.mailbox(id);
      const server = openCommandServer({
        mailbox,
        fence,
        control,
        clock: systemClock,
        ids: randomIds,
        notice: host.notify,
      });
      const stopRelay = key && relayWorkerQuestions(options, id, key, openQuestions);
      return {
        async close() {
          stopRelay?.();
          await server.close();
          await mailbox.close();
        },
      };
    },
  };
};

/** Adds open questions to `asked`, so that the relay does not ask the people here again. */
const trackingOpenQuestions = (
  surface: KnownSurface,
  openQuestions: Set<string>,
): KnownSurface => ({
  ...surface,
  async ask(question, signal) {
    openQuestions.add(question.id);
    try {
      return await surface.ask(question, signal);
    } finally {
      openQuestions.delete(question.id);
    }
  },
});

/** Shows the people here the questions of agents on workers. Returns the function that stops it. */
const relayWorkerQuestions = (
  { store, surfaces, flags, host }: AnswerChannelsOptions,
  session: string,
  { privateKey }: PersonKey,
  openQuestions: ReadonlySet<string>,
): (() => void) | undefined => {
  // Only a shared store has questions of other processes.
  if (store.jobs.local !== undefined) return undefined;
  const [surface] = Object.values(surfaces);
  return relayQuestions({
    questions: store.questions(session),
    surface,
    seen: flags.ask === true ? notifyHowToAnswer(host) : undefined,
    privateKey,
    clock: systemClock,
    isAskedHere: (question) => openQuestions.has(question),
  });
};

/**
 * Opens the person's key if answers from elsewhere are wanted. Throws UsageError if `--ask` needs the key and
 * it cannot be opened. A session at a terminal works without it, because its own person can answer.
 */
const keyFor = (
  { flags, surfaces, store, host }: AnswerChannelsOptions,
  folder: string,
): PersonKey | undefined => {
  const isShared = store.jobs.local === undefined && Object.keys(surfaces).length > 0;
  if (flags.ask !== true && !('terminal' in surfaces) && !isShared) return undefined;
  try {
    return openPersonKey(folder);
  } catch (error) {
    if (flags.ask === true) throw error;
    host.notify(`Questions can only be answered in this terminal: ${(error as Error).message}`);
    return undefined;
  }
};

const notifyHowToAnswer =
  (host: Pick<HostEnvironment, 'notify'>) =>
  ({ id, agent, description }: PostedQuestion | PermissionQuestion): void =>
    host.notify(
      `${agent} waits for an answer about ${description.slice(0, 200)}: run \`skein approve ${id}\` or \`skein deny ${id}\` in another terminal; \`skein inbox\` shows the details.`,
    );
