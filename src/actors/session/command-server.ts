/**
 * Executes commands that other terminals send to the owner of a swarm. Each command is checked,
 * executed once, acknowledged when it has taken effect, and answered.
 */
import {
  COMMAND_ADDRESS,
  COMMAND_LIFETIME_MS,
  type CommandReply,
  type SwarmCommand,
  type SwarmControl,
  swarmCommand,
} from '../../protocol/agent/swarm-command.js';
import type { Clock } from '../../protocol/clock.js';
import type { Ids } from '../../protocol/ids.js';
import type { Fence, Inbox, Mailbox, MailLetter } from '../../protocol/session/mailbox.js';

interface CommandServerOptions {
  readonly mailbox: Mailbox;
  /** Fence of this process. After it is lost, commands are neither read nor answered. */
  readonly fence?: Fence | undefined;
  readonly control: SwarmControl;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Called with a sentence for people if commands cannot be read. */
  readonly notice: (sentence: string) => void;
}

export interface CommandServer {
  /** Stops reading and waits up to 2 s for running commands. Never rejects. */
  close(): Promise<void>;
}

/** Maximum remembered letter ids, to detect repeated letters. */
const MAX_REMEMBERED_REPLIES = 10_000;
/** Maximum concurrent commands. A stop may take as long as the agent takes to stop. */
const MAX_CONCURRENT_COMMANDS = 64;

/** Maximum wait for running commands on close. */
const CLOSE_TIMEOUT_MS = 2_000;

/** Sender of letters from people. */
const PERSON = 'user';

export const openCommandServer = (options: CommandServerOptions): CommandServer => {
  const over = new AbortController();
  const reader = new CommandReader(options);
  const reading = reader.read(over.signal).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    options.notice(`Other terminals can no longer control this session: ${why}`);
  });
  return {
    async close() {
      over.abort();
      await reading;
    },
  };
};

class CommandReader {
  private readonly options: CommandServerOptions;
  /** Reply by letter id; null while the command runs. */
  private readonly known = new Map<string, CommandReply | null>();
  private readonly running = new Set<Promise<void>>();

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
        const work = this.handle(letter, inbox).finally(() => this.running.delete(work));
        this.running.add(work);
        if (this.running.size >= MAX_CONCURRENT_COMMANDS) await Promise.race(this.running);
      }
    } finally {
      await this.waitForRunning();
      await inbox.close().catch(() => undefined);
    }
  }

  /**
   * Waits for running commands, with a time limit so that a hanging command cannot keep the process
   * alive.
   */
  private async waitForRunning(): Promise<void> {
    if (this.running.size === 0) return;
    const { clock } = this.options;
    let forget = () => {};
    const timeout = new Promise<void>((resolve) => {
      forget = clock.wakeAt(clock.now() + CLOSE_TIMEOUT_MS, resolve);
    });
    await Promise.race([Promise.all(this.running), timeout]).finally(forget);
  }

  /** Handles a letter. Never rejects, because a failing letter must not stop the reader. */
  private async handle(letter: MailLetter, inbox: Inbox): Promise<void> {
    const { notice } = this.options;
    try {
      const known = this.known.get(letter.id);
      if (known === null) return;
      const problem = known === undefined ? this.problemWith(letter) : undefined;
      if (problem !== undefined) {
        await inbox.moveToDeadLetters(letter.id, problem);
        await this.reply(letter, { ok: false, sentence: problem, agent: null });
        return;
      }
      const reply = known ?? (await this.executeOnce(letter));
      await inbox.acknowledge(letter.id);
      await this.reply(letter, reply);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      notice(`A command from another terminal was not executed: ${why}`);
    }
  }

  private problemWith({ body, sentAt }: MailLetter): string | undefined {
    const age = Math.abs(this.options.clock.now() - sentAt);
    if (age > COMMAND_LIFETIME_MS) {
      const seconds = Math.round(age / 1_000);
      return `The command is too old, or the two clocks differ by ${seconds} s; send it again.`;
    }
    return swarmCommand.safeParse(body).success
      ? undefined
      : 'The command cannot be read; both terminals need the same version of skein.';
  }

  private async executeOnce({ id, body }: MailLetter): Promise<CommandReply> {
    this.remember(id, null);
    const command = swarmCommand.parse(body);
    const reply = await this.execute(command, id).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      return { ok: false, sentence: `The command failed: ${why}`, agent: command.agent };
    });
    this.remember(id, reply);
    return reply;
  }

  private async execute(command: SwarmCommand, letter: string): Promise<CommandReply> {
    const { control } = this.options;
    switch (command.type) {
      case 'send':
        return control.send(command.agent, command.text, PERSON, letter);
      case 'stop':
        return control.stop(command.agent);
      case 'resume':
        return control.resume(command.agent);
    }
  }

  private remember(id: string, reply: CommandReply | null): void {
    this.known.delete(id);
    this.known.set(id, reply);
    const [oldest] = this.known.keys();
    if (this.known.size > MAX_REMEMBERED_REPLIES && oldest !== undefined) this.known.delete(oldest);
  }

  /**
   * Sends the reply. Skips a sender that has given up waiting; ignores a lost fence, because the
   * next owner replies itself.
   */
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
