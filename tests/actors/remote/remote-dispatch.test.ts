import { describe, expect, onTestFinished, test } from 'vitest';
import type { ReceiveMail } from '../../../src/actors/messages/read-mailbox.js';
import { RemoteDispatch } from '../../../src/actors/remote/remote-dispatch.js';
import type { AgentMail } from '../../../src/protocol/agent/agent-mail.js';
import type { Inbox, Mailbox } from '../../../src/protocol/session/mailbox.js';
import type { SessionMeta } from '../../../src/protocol/session/session-store.js';
import { StorageError } from '../../../src/protocol/skein-error.js';
import { MemoryJobQueue } from '../../../src/store/memory/memory-job-queue.js';
import { MemoryMailbox } from '../../../src/store/memory/memory-mailbox.js';
import { swarmKeys } from '../../../src/store/redis/connection/swarm-keys.js';
import { RedisMailbox } from '../../../src/store/redis/mailbox/redis-mailbox.js';
import { unhandledRejections } from '../../fakes/agents/unhandled-rejections.js';
import { redisConnections } from '../../fakes/redis/redis-server.js';
import { settled, virtualClock } from '../../fakes/virtual-clock.js';
import { needs } from '../../setup/needs.js';

const refused = () => new StorageError('Redis has refused it: OOM command not allowed');
const letterMail = (letter: string): AgentMail => ({
  type: 'letter',
  letter,
  from: 'a_0',
  raw: '[{"type":"text","text":"Hello"}]',
});

/** Dispatch of a process of the swarm `s_1`, with the letters that its agent receives. */
const dispatchBy = (mailbox: Mailbox, sign?: (agent: string, at: number) => string) => {
  const clock = virtualClock();
  const session = {
    meta: { id: 's_1', lead: 'a_0' } as SessionMeta,
    fenceOf: () => undefined,
    takeBack: async () => {},
  };
  const store = { jobs: new MemoryJobQueue(), mailbox: () => mailbox };
  const dispatch = new RemoteDispatch(store, session, 'w_1', clock, undefined, sign);
  onTestFinished(() => dispatch.close());
  const received: string[] = [];
  const receive: ReceiveMail = async (mail) => {
    if (mail.type === 'letter') received.push(mail.letter);
  };
  return { dispatch, clock, received, receive, jobs: store.jobs };
};

/** Mailbox that refuses the operations in `refusals`. */
const refusingMailbox = () => {
  const [mail, refusals] = [new MemoryMailbox(), new Set<keyof Inbox | 'open'>()];
  let opened = 0;
  const failIfRefused = (operation: keyof Inbox | 'open') => {
    if (refusals.has(operation)) throw refused();
  };
  const mailbox: Mailbox = {
    send: (letter) => mail.send(letter),
    deadLetters: () => mail.deadLetters(),
    close: () => mail.close(),
    async open(address) {
      opened += 1;
      failIfRefused('open');
      const inbox = await mail.open(address);
      return {
        async next(signal) {
          failIfRefused('next');
          return inbox.next(signal);
        },
        async acknowledge(id) {
          failIfRefused('acknowledge');
          return inbox.acknowledge(id);
        },
        moveToDeadLetters: (id, reason) => inbox.moveToDeadLetters(id, reason),
        close: () => inbox.close(),
      };
    },
  };
  return {
    mail,
    mailbox,
    refusals,
    get opened() {
      return opened;
    },
  };
};

const written = () => undefined;

describe('the mailbox reader of an agent', () => {
  test.each(['open', 'next', 'acknowledge'] as const)(
    'continues after the store refused `%s`',
    async (operation) => {
      const { mail, mailbox, refusals } = refusingMailbox();
      const { dispatch, clock, received, receive } = dispatchBy(mailbox);
      refusals.add(operation);
      dispatch.readMailbox('a_1', receive, written);
      await dispatch.post('a_1', 'l_1', letterMail('l_1'));
      await settled();
      refusals.clear();
      await clock.advance(1_000);
      expect(received.at(-1)).toBe('l_1');
      await dispatch.post('a_1', 'l_2', letterMail('l_2'));
      await settled();
      expect(received.at(-1)).toBe('l_2');
      await dispatch.stopReadingMailbox('a_1');
      expect(await remainingLetters(mail)).toEqual([]);
    },
  );

  test('retries every second while the store refuses, until it is stopped', async () => {
    const scene = refusingMailbox();
    const { dispatch, clock, receive } = dispatchBy(scene.mailbox);
    scene.refusals.add('open');
    dispatch.readMailbox('a_1', receive, written);
    await clock.advance(5_000);
    expect(scene.opened).toBe(6);
    await dispatch.stopReadingMailbox('a_1');
    expect(clock.sleepers).toBe(0);
    await clock.advance(5_000);
    expect(scene.opened).toBe(6);
  });

  test('receives a letter again if it could not be processed, and continues', async () => {
    const { mail, mailbox } = refusingMailbox();
    const { dispatch, clock, received, receive } = dispatchBy(mailbox);
    let times = 0;
    const fails: ReceiveMail = async (letter, signal) => {
      times += 1;
      if (times === 1) throw refused();
      return receive(letter, signal);
    };
    dispatch.readMailbox('a_1', fails, written);
    await dispatch.post('a_1', 'l_1', letterMail('l_1'));
    await dispatch.post('a_1', 'l_2', letterMail('l_2'));
    await settled();
    expect(received).toEqual([]);
    await clock.advance(1_000);
    expect(received).toEqual(['l_1', 'l_2']);
    await dispatch.stopReadingMailbox('a_1');
    expect(await remainingLetters(mail)).toEqual([]);
  });

  test('has no unhandled rejection if it is stopped while the storage fails', async () => {
    const unhandled = unhandledRejections();
    const { mailbox, refusals } = refusingMailbox();
    const { dispatch, receive } = dispatchBy(mailbox);
    refusals.add('open');
    dispatch.readMailbox('a_1', receive, () => Promise.reject(refused()));
    await dispatch.stopReadingMailbox('a_1');
    expect(await unhandled()).toEqual([]);
  });

  test('leaves a letter in the mailbox if the storage fails', async () => {
    const { mail, mailbox } = refusingMailbox();
    const { dispatch, clock } = dispatchBy(mailbox);
    let times = 0;
    const fails: ReceiveMail = async () => {
      times += 1;
      throw refused();
    };
    dispatch.readMailbox('a_1', fails, () => Promise.reject(refused()));
    await dispatch.post('a_1', 'l_1', letterMail('l_1'));
    await clock.advance(60_000);
    expect(times).toBe(1);
    expect(await remainingLetters(mail)).toEqual(['l_1']);
  });

  test('can be restarted before the previous reader has stopped', async () => {
    const { mailbox } = refusingMailbox();
    const { dispatch, clock, received, receive } = dispatchBy(mailbox);
    let release = () => {};
    const slow: ReceiveMail = () =>
      new Promise((resolve) => {
        release = resolve;
      });
    dispatch.readMailbox('a_1', slow, written);
    await dispatch.post('a_1', 'l_1', letterMail('l_1'));
    await settled();
    const stopping = dispatch.stopReadingMailbox('a_1');
    dispatch.readMailbox('a_1', receive, written);
    await settled();
    release();
    await stopping;
    await dispatch.post('a_1', 'l_2', letterMail('l_2'));
    await clock.advance(1_000);
    expect(received).toEqual(['l_2']);
  });
});

describe('an enqueued agent', () => {
  test('has the handover that its lead signed', async () => {
    const { dispatch, jobs } = dispatchBy(new MemoryMailbox(), (agent, at) => `${agent} at ${at}`);
    await dispatch.enqueue('a_1', 7);
    expect(await jobs.list('s_1')).toMatchObject([{ id: 'a_1', at: 7, handover: 'a_1 at 7' }]);
  });

  test('has the handover of its parent if the lead runs in another process', async () => {
    const { dispatch, jobs } = dispatchBy(new MemoryMailbox());
    dispatch.jobsHere.set('a_1', { at: 7, handover: 'a_1 at 7' });
    await dispatch.enqueue('a_2', 3, 'a_1');
    expect(await jobs.list('s_1')).toMatchObject([{ id: 'a_2', at: 3, handover: 'a_1 at 7' }]);
  });
});

needs.describe('redis')('the mailbox reader of an agent in Redis', () => {
  test('continues after a refused command', async () => {
    const connections = await redisConnections();
    const { dispatch, clock, receive } = dispatchBy(new RedisMailbox(connections, 's_1', 'here'));
    const { mail } = swarmKeys('s_1');
    await connections.call('SET', mail('a_1'), 'somebody else was here');
    let notifyReceived: (letter: string) => void = () => {};
    const received = new Promise<string>((resolve) => {
      notifyReceived = resolve;
    });
    const notifying: ReceiveMail = async (letter, signal) => {
      await receive(letter, signal);
      if (letter.type === 'letter') notifyReceived(letter.letter);
    };
    dispatch.readMailbox('a_1', notifying, written);
    // Wait until the reader sleeps before its next attempt.
    while (clock.sleepers === 0) await settled();
    await connections.call('DEL', mail('a_1'));
    await dispatch.post('a_1', 'l_1', letterMail('l_1'));
    await clock.advance(1_000);
    expect(await received).toBe('l_1');
  });
});

/** Ids of the letters that the next reader receives. */
const remainingLetters = async (mail: MemoryMailbox): Promise<readonly string[]> => {
  const inbox = await mail.open('a_1');
  const ids: string[] = [];
  const over = new AbortController();
  setImmediate(() => over.abort());
  for (;;) {
    const letter = await inbox.next(over.signal);
    if (letter === undefined) return ids;
    ids.push(letter.id);
  }
};

describe('the job of an agent', () => {
  test('is known as soon as it is queued, and other agents are looked up once a second', async () => {
    const { dispatch, clock, jobs } = dispatchBy(new MemoryMailbox());
    let lists = 0;
    const list = jobs.list.bind(jobs);
    jobs.list = (swarm) => {
      lists += 1;
      return list(swarm);
    };
    expect(await dispatch.isHandedOver('a_1')).toBe(false);
    await dispatch.enqueue('a_1', 3);
    expect(await dispatch.isHandedOver('a_1')).toBe(true);
    expect(await dispatch.isHandedOver('a_2')).toBe(false);
    expect(lists).toBe(2);
    await clock.advance(1_001);
    expect(await dispatch.isHandedOver('a_2')).toBe(false);
    expect(lists).toBe(3);
  });

  test('is known if it is queued while the jobs are listed', async () => {
    const { dispatch, jobs } = dispatchBy(new MemoryMailbox());
    let release = () => {};
    const list = jobs.list.bind(jobs);
    jobs.list = async (swarm) => {
      const listed = await list(swarm);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return listed;
    };
    const early = dispatch.isHandedOver('a_1');
    await settled();
    jobs.list = list;
    await dispatch.enqueue('a_1', 3);
    expect(await dispatch.isHandedOver('a_1')).toBe(true);
    release();
    expect(await early).toBe(false);
  });
});
