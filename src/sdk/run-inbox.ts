/** What other terminals can do with a run: answer its questions, write to its agents and stop them. */
import { join } from 'node:path';
import { type CommandDesk, openCommandDesk } from '../actors/command-desk.js';
import { type InboxSurface, inboxSurface } from '../actors/inbox-surface.js';
import { stateLayout } from '../config/state-directory.js';
import { systemClock } from '../protocol/clock.js';
import { UsageError } from '../protocol/errors.js';
import { randomIds } from '../protocol/ids.js';
import type { PermissionQuestion } from '../protocol/permission.js';
import type { SwarmControl } from '../protocol/swarm-commands.js';
import { MailFolder } from '../store/mail-folder.js';
import { openPersonKey } from '../store/person-key.js';
import { questionBoard } from '../store/question-files.js';
import type { RunOptions } from './run-options.js';
import type { Surroundings } from './surroundings.js';

export interface RunInbox {
  /** Those to be asked beside the host's own; none where nobody looks at the inbox for this run. */
  surfaces(session: string): readonly InboxSurface[];
  /** Takes commands for the session from now on; undefined where it is not on disk. */
  openDesk(session: string, control: SwarmControl): CommandDesk | undefined;
}

export interface RunInboxRequest {
  readonly machine: Pick<Surroundings, 'notify'>;
  readonly flags: RunOptions;
  readonly skeinHome: string;
  /** A person talks to the run already, and may do so from other terminals too. */
  readonly isInteractive: boolean;
}

/** Throws a UsageError when answers are asked for that cannot be taken. */
export const runInbox = (request: RunInboxRequest): RunInbox => {
  const { machine, flags, skeinHome } = request;
  const layout = stateLayout(skeinHome);
  const isOnDisk = flags.sessionPersistence !== false;
  if (flags.ask === true && !isOnDisk) {
    throw new UsageError('--ask needs a session on disk: leave out --no-session-persistence.');
  }
  const folderOf = (session: string) => join(layout.sessions, session);
  const publicKey = isOnDisk ? keyFor(request, layout.keys) : undefined;
  let inbox: InboxSurface | undefined;
  return {
    surfaces(session) {
      if (publicKey === undefined) return [];
      const board = questionBoard(folderOf(session));
      void board.clear();
      inbox = inboxSurface({
        ...{ publicKey, board, clock: systemClock, isBeside: flags.ask !== true },
        ...(flags.ask === true && {
          posted: (question) => machine.notify(howToAnswer(question)),
        }),
      });
      return [inbox];
    },
    openDesk(session, control) {
      if (!isOnDisk) return undefined;
      const mailbox = new MailFolder(folderOf(session), systemClock);
      const desk = openCommandDesk({
        ...{ mailbox, control, inbox, clock: systemClock, ids: randomIds, notice: machine.notify },
      });
      return {
        async close() {
          await desk.close();
          await mailbox.close();
        },
      };
    },
  };
};

/** A session at a terminal goes on without: there is somebody to ask. */
const keyFor = (
  { flags, isInteractive, machine }: RunInboxRequest,
  folder: string,
): string | undefined => {
  if (flags.ask !== true && !isInteractive) return undefined;
  try {
    return openPersonKey(folder).publicKey;
  } catch (error) {
    if (flags.ask === true) throw error;
    machine.notify(`Questions can be answered here alone: ${(error as Error).message}`);
    return undefined;
  }
};

const howToAnswer = ({ id, agent, description }: PermissionQuestion): string =>
  `${agent} waits for an answer about ${description.slice(0, 200)}: \`skein approve ${id}\` or \`skein deny ${id}\` in another terminal; \`skein inbox\` shows all of it.`;
