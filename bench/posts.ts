/** Sends letters between two processes, through Skein's mailbox or through bare streams. */
import { Redis } from 'ioredis';
import { connectRedis } from '../src/store/redis/connection/redis-connections.js';
import { RedisMailbox } from '../src/store/redis/mailbox/redis-mailbox.js';

export interface Post {
  send(to: string, id: string, body: unknown): Promise<void>;
  /** Acknowledges each letter after `taken` has returned. */
  receive(address: string, taken: (body: unknown) => void): Promise<void>;
}

/** Maximum letters per read, the same as in the mailbox. */
const MAX_BATCH = 32;

export const openPost = (kind: string, socket: string): Promise<Post> =>
  kind === 'ours' ? ourPost(socket) : barePost(socket);

const ourPost = async (socket: string): Promise<Post> => {
  const consumer = `bench-${process.pid}`;
  const mailbox = new RedisMailbox(await connectRedis(`unix://${socket}`), 's_bench', consumer);
  return {
    send: (to, id, body) => mailbox.send({ id, from: consumer, to, sentAt: Date.now(), body }),
    async receive(address, taken) {
      const inbox = await mailbox.open(address);
      const { signal } = new AbortController();
      const read = async () => {
        for (;;) {
          const letter = await inbox.next(signal);
          if (letter === undefined) return;
          taken(letter.body);
          void inbox.acknowledge(letter.id);
        }
      };
      void read();
    },
  };
};

/** Simplest version: a stream for each address, and a consumer group that reads it. */
const barePost = async (socket: string): Promise<Post> => {
  const commands = new Redis({ path: socket });
  return {
    send: async (to, id, body) => {
      await commands.xadd(to, '*', 'letter', JSON.stringify({ id, to, sentAt: Date.now(), body }));
    },
    async receive(address, taken) {
      await commands.xgroup('CREATE', address, 'readers', '0', 'MKSTREAM').catch(() => {});
      const blocking = new Redis({ path: socket });
      const read = async () => {
        for (;;) {
          const found = (await blocking.xreadgroup(
            'GROUP' as const,
            'readers' as const,
            'one' as const,
            'COUNT' as const,
            MAX_BATCH,
            'BLOCK' as const,
            0,
            'STREAMS' as const,
            address,
            '>' as const,
          )) as [string, [string, string[]][]][] | null;
          for (const [entry, [, text = '']] of found?.[0]?.[1] ?? []) {
            taken((JSON.parse(text) as { body: unknown }).body);
            void commands.xack(address, 'readers', entry);
            void commands.xdel(address, entry);
          }
        }
      };
      void read();
    },
  };
};
