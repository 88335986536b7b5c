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
import { redisBroker } from '../../fakes/redis/redis-server.js';
import { settled, virtualClock } from '../../fakes/virtual-clock.js';
import { needs } from '../../setup/needs.js';

const refused = () => new StorageError('Redis has refused it: OOM command not allowed');
const words = (letter: string): AgentMail => ({
  type: 'letter',
  letter,
  from: 'a_0',
  raw: '[{"type":"text","text":"Hello"}]',
});

/** What a process of the swarm `s_1` has to do with agents elsewhere. */
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
  const heard: string[] = [];
  const receive: ReceiveMail = async (mail) => {
    if (mail.type === 'letter') heard.push(mail.letter);
  };
  return { dispatch, clock, heard, receive, jobs: store.jobs };
};

/** `troubles` says what a store refuses now. */
const moodyMail = () => {
  const [mail, troubles] = [new MemoryMailbox(), new Set<keyof Inbox | 'open'>()];
  let opened = 0;
  const heed = (what: keyof Inbox | 'open') => {
    if (troubles.has(what)) throw refused();
  };
  const mailbox: Mailbox = {
    send: (letter) => mail.send(letter),
    deadLetters: () => mail.deadLetters(),
    close: () => mail.close(),
    async open(address) {
      opened += 1;
      heed('open');
      const inbox = await mail.open(address);
      return {
        async next(signal) {
          heed('next');
          return inbox.next(signal);
        },
        async acknowledge(id) {
          heed('acknowledge');
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
    troubles,
    get opened() {
      return opened;
    },
  };
};

const sound = () => undefined;

describe('the mail of an agent', () => {
  test.each(['open', 'next', 'acknowledge'] as const)(
    'is read on after the store has refused `%s`',
    async (what) => {
      const { mail, mailbox, troubles } = moodyMail();
      const { dispatch, clock, heard, receive } = dispatchBy(mailbox);
      troubles.add(what);
      dispatch.readMailbox('a_1', receive, sound);
      await dispatch.post('a_1', 'l_1', words('l_1'));
      await settled();
      troubles.clear();
      await clock.advance(1_000);
      expect(heard.at(-1)).toBe('l_1');
      await dispatch.post('a_1', 'l_2', words('l_2'));
      await settled();
      expect(heard.at(-1)).toBe('l_2');
      await dispatch.stopReadingMailbox('a_1');
      expect(await left(mail)).toEqual([]);
    },
  );

  test('is asked for once a second while the store refuses it, and no more once it is left', async () => {
    const scene = moodyMail();
    const { dispatch, clock, receive } = dispatchBy(scene.mailbox);
    scene.troubles.add('open');
    dispatch.readMailbox('a_1', receive, sound);
    await clock.advance(5_000);
    expect(scene.opened).toBe(6);
    await dispatch.stopReadingMailbox('a_1');
    expect(clock.sleepers).toBe(0);
    await clock.advance(5_000);
    expect(scene.opened).toBe(6);
  });

  test('is read on after a letter that could not be taken in, which is given again', async () => {
    const { mail, mailbox } = moodyMail();
    const { dispatch, clock, heard, receive } = dispatchBy(mailbox);
    let times = 0;
    const fails: ReceiveMail = async (letter, signal) => {
      times += 1;
      if (times === 1) throw refused();
      return receive(letter, signal);
    };
    dispatch.readMailbox('a_1', fails, sound);
    await dispatch.post('a_1', 'l_1', words('l_1'));
    await dispatch.post('a_1', 'l_2', words('l_2'));
    await settled();
    expect(heard).toEqual([]);
    await clock.advance(1_000);
    expect(heard).toEqual(['l_1', 'l_2']);
    await dispatch.stopReadingMailbox('a_1');
    expect(await left(mail)).toEqual([]);
  });

  test('leaves nothing unminded of one that is left when nothing can be written for it', async () => {
    const unminded = unhandledRejections();
    const { mailbox, troubles } = moodyMail();
    const { dispatch, receive } = dispatchBy(mailbox);
    troubles.add('open');
    dispatch.readMailbox('a_1', receive, () => Promise.reject(refused()));
    await dispatch.stopReadingMailbox('a_1');
    expect(await unminded()).toEqual([]);
  });

  test('is left to whoever has it next where nothing can be written for it', async () => {
    const { mail, mailbox } = moodyMail();
    const { dispatch, clock } = dispatchBy(mailbox);
    let times = 0;
    const fails: ReceiveMail = async () => {
      times += 1;
      throw refused();
    };
    dispatch.readMailbox('a_1', fails, () => Promise.reject(refused()));
    await dispatch.post('a_1', 'l_1', words('l_1'));
    await clock.advance(60_000);
    expect(times).toBe(1);
    expect(await left(mail)).toEqual(['l_1']);
  });

  test('is read by one who comes back before the last one has gone', async () => {
    const { mailbox } = moodyMail();
    const { dispatch, clock, heard, receive } = dispatchBy(mailbox);
    let release = () => {};
    const slow: ReceiveMail = () =>
      new Promise((resolve) => {
        release = resolve;
      });
    dispatch.readMailbox('a_1', slow, sound);
    await dispatch.post('a_1', 'l_1', words('l_1'));
    await settled();
    const leaving = dispatch.stopReadingMailbox('a_1');
    dispatch.readMailbox('a_1', receive, sound);
    await settled();
    release();
    await leaving;
    await dispatch.post('a_1', 'l_2', words('l_2'));
    await clock.advance(1_000);
    expect(heard).toEqual(['l_2']);
  });
});

describe('an agent that is handed over', () => {
  test('goes with what its lead signs about it', async () => {
    const { dispatch, jobs } = dispatchBy(new MemoryMailbox(), (agent, at) => `${agent} at ${at}`);
    await dispatch.enqueue('a_1', 7);
    expect(await jobs.list('s_1')).toMatchObject([{ id: 'a_1', at: 7, handover: 'a_1 at 7' }]);
  });

  test('goes with what was signed about one that it works for, where its lead is elsewhere', async () => {
    const { dispatch, jobs } = dispatchBy(new MemoryMailbox());
    dispatch.ours.set('a_1', { at: 7, handover: 'a_1 at 7' });
    await dispatch.enqueue('a_2', 3, 'a_1');
    expect(await jobs.list('s_1')).toMatchObject([{ id: 'a_2', at: 3, handover: 'a_1 at 7' }]);
  });
});

needs.describe('redis')('the mail of an agent in Redis', () => {
  test('is read on after a command was refused', async () => {
    const broker = await redisBroker();
    const { dispatch, clock, receive } = dispatchBy(new RedisMailbox(broker, 's_1', 'here'));
    const { mail } = swarmKeys('s_1');
    await broker.call('SET', mail('a_1'), 'somebody else was here');
    let hear: (letter: string) => void = () => {};
    const heard = new Promise<string>((resolve) => {
      hear = resolve;
    });
    const hears: ReceiveMail = async (letter, signal) => {
      await receive(letter, signal);
      if (letter.type === 'letter') hear(letter.letter);
    };
    dispatch.readMailbox('a_1', hears, sound);
    // It waits for its next attempt.
    while (clock.sleepers === 0) await settled();
    await broker.call('DEL', mail('a_1'));
    await dispatch.post('a_1', 'l_1', words('l_1'));
    await clock.advance(1_000);
    expect(await heard).toBe('l_1');
  });
});

/** What the next reader is given. */
const left = async (mail: MemoryMailbox): Promise<readonly string[]> => {
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
