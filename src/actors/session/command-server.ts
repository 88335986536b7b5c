/**
 * Where the owner of a swarm takes commands from other terminals: each is checked, carried out once,
 * answered, and acknowledged when it has taken effect. Nothing happens while nobody writes.
 */

import {
  COMMAND_ADDRESS,
  COMMAND_LIFETIME_MS,
  type CommandReply,
  type SwarmCommand,
  type SwarmControl,
  swarmCommand,
} from '../../protocol/agent/swarm-commands.js';
import type { Clock } from '../../protocol/clock.js';
import type { Ids } from '../../protocol/ids.js';
import type { Fence, Inbox, Mailbox, MailLetter } from '../../protocol/session/mailbox.js';
import type { InboxSurface } from '../permissions/inbox-surface.js';

export interface CommandServerOptions {
  readonly mailbox: Mailbox;
  /** What makes this process the owner: without it nothing is taken or answered any more. */
  readonly fence?: Fence | undefined;
  readonly control: SwarmControl;
  /** Left out where nobody can be asked in other terminals. */
  readonly inbox?: Pick<InboxSurface, 'answer'> | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  /** One sentence for people, when commands cannot be taken. */
  readonly notice: (sentence: string) => void;
}

export interface CommandServer {
  /** Commands that are under way are ended first. Never rejects. */
  close(): Promise<void>;
}

/** Letters that are known again by their id. */
const MOST_REMEMBERED = 10_000;
/** Commands at once: a stop may take as long as what it stops. */
const MOST_UNDER_WAY = 64;

/** How long a close waits for them. */
const PATIENCE_MS = 2_000;

/** Whom people write as. */
const PERSON = 'user';

export const openCommandServer = (options: CommandServerOptions): CommandServer => {
  const over = new AbortController();
  const desk = new Desk(options);
  const reading = desk.read(over.signal).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    options.notice(`Other terminals cannot steer this session any more: ${why}`);
  });
  return {
    async close() {
      over.abort();
      await reading;
    },
  };
};

class Desk {
  private readonly options: CommandServerOptions;
  /** What was answered, by the id of the letter; null while it is under way. */
  private readonly known = new Map<string, CommandReply | null>();
  private readonly underWay = new Set<Promise<void>>();

  constructor(options: CommandServerOptions) {
    this.options = options;
  }

  async read(signal: AbortSignal): Promise<void> {
    const { mailbox, fence } = this.options;
    const inbox = await mailbox.open(COMMAND_ADDRESS, fence);
    try {
      for (;;) {
        const letter = await inbox.next(signal);
        if (letter === undefined) return;
        const work = this.take(letter, inbox).finally(() => this.underWay.delete(work));
        this.underWay.add(work);
        if (this.underWay.size >= MOST_UNDER_WAY) await Promise.race(this.underWay);
      }
    } finally {
      await this.settled();
      await inbox.close().catch(() => undefined);
    }
  }

  /** A command that does not end must not keep the process from ending. */
  private async settled(): Promise<void> {
    if (this.underWay.size === 0) return;
    const { clock } = this.options;
    let forget = () => {};
    const patience = new Promise<void>((resolve) => {
      forget = clock.wakeAt(clock.now() + PATIENCE_MS, resolve);
    });
    await Promise.race([Promise.all(this.underWay), patience]).finally(forget);
  }

  /** Never rejects: one letter that fails must not keep the others from being read. */
  private async take(letter: MailLetter, inbox: Inbox): Promise<void> {
    const { notice } = this.options;
    try {
      const known = this.known.get(letter.id);
      if (known === null) return;
      const trouble = known === undefined ? this.troubleWith(letter) : undefined;
      if (trouble !== undefined) {
        await inbox.bury(letter.id, trouble);
        await this.reply(letter, { ok: false, sentence: trouble, agent: null });
        return;
      }
      const reply = known ?? (await this.carryOut(letter));
      await inbox.acknowledge(letter.id);
      await this.reply(letter, reply);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      notice(`A command from another terminal was not taken: ${why}`);
    }
  }

  private troubleWith({ body, sentAt }: MailLetter): string | undefined {
    const age = Math.abs(this.options.clock.now() - sentAt);
    if (age > COMMAND_LIFETIME_MS) {
      const seconds = Math.round(age / 1_000);
      return `The command is too old, or two clocks differ by ${seconds} s; give it again.`;
    }
    return swarmCommand.safeParse(body).success
      ? undefined
      : 'The command cannot be read; both terminals need the same version of skein.';
  }

  private async carryOut({ id, body }: MailLetter): Promise<CommandReply> {
    this.remember(id, null);
    const command = swarmCommand.parse(body);
    const reply = await this.execute(command, id).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      const agent = 'agent' in command ? command.agent : command.signed.agent;
      return { ok: false, sentence: `It did not work: ${why}`, agent };
    });
    this.remember(id, reply);
    return reply;
  }

  private async execute(command: SwarmCommand, letter: string): Promise<CommandReply> {
    const { control, inbox } = this.options;
    switch (command.type) {
      case 'send':
        return control.send(command.agent, command.text, PERSON, letter);
      case 'stop':
        return control.stop(command.agent);
      case 'resume':
        return control.resume(command.agent);
      case 'answer': {
        const { signed } = command;
        if (inbox !== undefined) return inbox.answer(signed);
        const sentence = 'This session takes no answers from other terminals.';
        return { ok: false, sentence, agent: signed.agent };
      }
    }
  }

  private remember(id: string, reply: CommandReply | null): void {
    this.known.delete(id);
    this.known.set(id, reply);
    const [oldest] = this.known.keys();
    if (this.known.size > MOST_REMEMBERED && oldest !== undefined) this.known.delete(oldest);
  }

  /** Somebody who went away needs none, and the next owner speaks for itself. */
  private async reply(
    { id: command, from, sentAt }: MailLetter,
    reply: CommandReply,
  ): Promise<void> {
    const { mailbox, fence, ids, clock } = this.options;
    if (clock.now() - sentAt > COMMAND_LIFETIME_MS) return;
    const body = { command, reply };
    const letter = {
      id: ids('letter'),
      from: COMMAND_ADDRESS,
      to: from,
      sentAt: clock.now(),
      body,
    };
    await mailbox.send(letter, fence).catch(() => undefined);
  }
}
