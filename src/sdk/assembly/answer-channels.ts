/** What other terminals can do with a run: answer its questions, write to its agents and stop them. */

import { type InboxSurface, inboxSurface } from '../../actors/permissions/inbox-surface.js';
import {
  firstAnswerWins,
  sharedInboxSurfaces,
} from '../../actors/permissions/shared-inbox-surface.js';
import { relayQuestions } from '../../actors/remote/question-relay.js';
import { type CommandServer, openCommandServer } from '../../actors/session/command-server.js';
import type { LeadSession } from '../../actors/session/session.js';
import { stateLayout } from '../../config/workspace/state-directory.js';
import type { SwarmControl } from '../../protocol/agent/swarm-commands.js';
import { systemClock } from '../../protocol/clock.js';
import { UsageError } from '../../protocol/errors.js';
import { randomIds } from '../../protocol/ids.js';
import type { KnownSurface } from '../../protocol/permission/answer.js';
import type { PermissionQuestion, Surface } from '../../protocol/permission/permission.js';
import type { Decisions, PostedQuestion } from '../../protocol/session/question-board.js';
import type { SessionStore } from '../../protocol/session/store.js';
import { openPersonKey, type PersonKey } from '../../store/shared/person-key.js';
import type { HostEnvironment } from './options/host-environment.js';
import type { RunOptions } from './options/run-options.js';

export interface RunInbox {
  /** All that are to be asked: the host's own, and whoever looks at the inbox for this run. */
  surfaces(session: string, own: readonly KnownSurface[]): readonly KnownSurface[];
  /** Takes commands for the session from now on; undefined where it is not on disk. */
  openDesk(
    session: Pick<LeadSession, 'id' | 'fence'>,
    control: SwarmControl,
  ): CommandServer | undefined;
}

export interface RunInboxRequest {
  readonly machine: Pick<HostEnvironment, 'notify'>;
  readonly flags: RunOptions;
  readonly store: Pick<SessionStore, 'mailbox' | 'questions' | 'jobs'>;
  readonly skeinHome: string;
  /** Of people who may answer from other machines. */
  readonly personKeys: readonly string[];
  /** The host's own, by name. */
  readonly surfaces: Readonly<Record<string, Surface>>;
}

/** Throws a UsageError when answers are asked for that cannot be taken. */
export const runInbox = (request: RunInboxRequest): RunInbox => {
  const { machine, flags, store, skeinHome } = request;
  const isOnDisk = flags.sessionPersistence !== false;
  if (flags.ask === true && !isOnDisk) {
    throw new UsageError('--ask needs a session on disk: leave out --no-session-persistence.');
  }
  const key = isOnDisk ? keyFor(request, stateLayout(skeinHome).keys) : undefined;
  /** Questions that were asked in this process. */
  const asked = new Set<string>();
  let inbox: InboxSurface | undefined;
  const told = {
    clock: systemClock,
    isBeside: flags.ask !== true,
    ...(flags.ask === true && {
      posted: (question: PermissionQuestion) => machine.notify(howToAnswer(question)),
    }),
  };
  const together = (own: readonly KnownSurface[], { publicKey }: PersonKey, session: string) => {
    const { board, verdicts } = store.questions(session);
    if (verdicts === undefined) return undefined;
    const publicKeys = [publicKey, ...request.personKeys];
    const others = own.map(({ id, publicKey: ownKey }) => ({ id, publicKey: ownKey }));
    return [
      ...own.map((surface) => firstAnswerWins(surface, verdicts)),
      ...sharedInboxSurfaces({ ...told, board, verdicts, publicKeys, others }),
    ].map((surface) => noting(surface, asked));
  };
  return {
    surfaces(session, own) {
      if (key === undefined) return own;
      const shared = together(own, key, session);
      if (shared !== undefined) return shared;
      const { board } = store.questions(session);
      void board.clear();
      inbox = inboxSurface({ ...told, publicKey: key.publicKey, board });
      return [...own, inbox];
    },
    openDesk({ id, fence }, control) {
      if (!isOnDisk) return undefined;
      const mailbox = store.mailbox(id);
      const desk = openCommandServer({
        mailbox,
        fence,
        control,
        inbox,
        clock: systemClock,
        ids: randomIds,
        notice: machine.notify,
      });
      const endRelay = key && relay(request, id, key, asked);
      return {
        async close() {
          endRelay?.();
          await desk.close();
          await mailbox.close();
        },
      };
    },
  };
};

/** Remembers what was asked here: people here need not be asked twice. */
const noting = (surface: KnownSurface, asked: Set<string>): KnownSurface => ({
  ...surface,
  async ask(question, signal) {
    asked.add(question.id);
    try {
      return await surface.ask(question, signal);
    } finally {
      asked.delete(question.id);
    }
  },
});

/** Questions of agents on workers reach the people here. */
const relay = (
  { store, surfaces, flags, machine }: RunInboxRequest,
  session: string,
  { privateKey }: PersonKey,
  asked: ReadonlySet<string>,
): (() => void) | undefined => {
  const desk = store.questions(session);
  const [surface] = Object.values(surfaces);
  if (!decidesTogether(desk)) return undefined;
  const isOurs = (question: string) => asked.has(question);
  const seen =
    flags.ask === true
      ? (question: PostedQuestion) => machine.notify(howToAnswer(question))
      : undefined;
  return relayQuestions({ desk, surface, seen, privateKey, clock: systemClock, isOurs });
};

type Desk = ReturnType<SessionStore['questions']>;
const decidesTogether = (desk: Desk): desk is Desk & { readonly verdicts: Decisions } =>
  desk.verdicts !== undefined;

/** A session at a terminal goes on without: there is somebody to ask. */
const keyFor = (
  { flags, surfaces, store, machine }: RunInboxRequest,
  folder: string,
): PersonKey | undefined => {
  const isShared = store.jobs.own === undefined && Object.keys(surfaces).length > 0;
  if (flags.ask !== true && !('terminal' in surfaces) && !isShared) return undefined;
  try {
    return openPersonKey(folder);
  } catch (error) {
    if (flags.ask === true) throw error;
    machine.notify(`Questions can be answered here alone: ${(error as Error).message}`);
    return undefined;
  }
};

const howToAnswer = ({ id, agent, description }: PostedQuestion | PermissionQuestion): string =>
  `${agent} waits for an answer about ${description.slice(0, 200)}: \`skein approve ${id}\` or \`skein deny ${id}\` in another terminal; \`skein inbox\` shows all of it.`;
