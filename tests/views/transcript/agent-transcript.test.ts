import { describe, expect, test } from 'vitest';
import type { AgentTag } from '../../../src/protocol/agent/agent-tag.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import type { FeedItem } from '../../../src/protocol/session/feed.js';
import type { JournalBody } from '../../../src/protocol/session/journal-record.js';
import type { SessionStore } from '../../../src/protocol/session/session-store.js';
import { StorageError } from '../../../src/protocol/skein-error.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import {
  AgentTranscript,
  OpenTranscripts,
} from '../../../src/views/transcript/agent-transcript.js';
import { LiveMessages } from '../../../src/views/transcript/live-messages.js';
import type { OpenTranscript } from '../../../src/views/transcript/transcript-item.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import { createdFor, letter, meta } from '../../store/contracts/records.js';

const attempt = { turn: 1, attempt: 1 };
const answer = (raw: string): JournalBody => ({
  type: 'assistant.received',
  ...attempt,
  model: 'm',
  messageId: 'msg',
  requestId: null,
  stopReason: 'end_turn',
  usage: NO_USAGE,
  cost: 0,
  durationMs: 5,
  raw,
});
const said = (text: string) => JSON.stringify([{ type: 'text', text }]);

/** A session with one child, and every look at a journal counted. */
const openSession = async () => {
  const store = new MemorySessionStore(virtualClock());
  const session = await store.create(meta());
  const journal = await session.journal('a_2', 'a_1');
  journal.append(createdFor('a_2', 'a_1'));
  let looks = 0;
  const journals: Pick<SessionStore, 'watchRecords'> = {
    watchRecords: (...of) => {
      const watch = store.watchRecords(...of);
      return {
        next: () => {
          looks += 1;
          return watch.next();
        },
      };
    },
  };
  const news = store.watch('s_1');
  return { journals, journal, looks: () => looks, events: () => news.next() };
};

const rest = () => new Promise((resolve) => setTimeout(resolve, 5));
const texts = ({ items }: OpenTranscript) => items.map(({ text }) => text);
const settled = async (transcript: OpenTranscript) => {
  await rest();
  return texts(transcript).slice(1);
};

describe('an open transcript', () => {
  test('has what is on record, and looks again only when something new is cited', async () => {
    const { journals, journal, looks, events } = await openSession();
    journal.append(letter('l_1', 'Mend it.'));
    const transcripts = new OpenTranscripts(journals);
    const transcript = transcripts.open('s_1', 'a_2');
    expect(await settled(transcript)).toEqual(['Mend it.']);
    const before = looks();
    transcripts.takeEvents(await events());
    await rest();
    expect(looks()).toBe(before);
    journal.append(answer(said('Done.')));
    const fresh = await events();
    transcripts.takeEvents(fresh.map((event) => ({ ...event, agent: 'a_1' })));
    transcripts.takeEvents(fresh.map((event) => ({ ...event, swarm: 's_9' })));
    expect(await settled(transcript)).toEqual(['Mend it.']);
    let told = 0;
    transcript.watch(() => {
      told += 1;
    });
    transcripts.takeEvents(fresh);
    expect(await settled(transcript)).toEqual(['Mend it.', 'Done.']);
    expect([told, looks() - before]).toEqual([1, 2]);
  });

  test('reads nothing more once it is closed', async () => {
    const { journals, journal, looks, events } = await openSession();
    const transcripts = new OpenTranscripts(journals);
    const transcript = transcripts.open('s_1', 'a_2');
    await rest();
    transcript.close();
    const before = looks();
    journal.append(letter('l_1'));
    transcripts.takeEvents(await events());
    await rest();
    expect([looks() - before, texts(transcript).length]).toEqual([0, 1]);
  });

  test('says why it cannot be read, and goes on when it can', async () => {
    let isAway = true;
    const { journals } = await openSession();
    const transcript = new AgentTranscript(
      {
        watchRecords: (...of) => {
          const watch = journals.watchRecords(...of);
          return {
            next: async () => {
              if (isAway) throw new StorageError('The disk is gone.');
              return watch.next();
            },
          };
        },
      },
      's_1',
      'a_2',
    );
    await rest();
    expect(transcript.items).toMatchObject([
      {
        kind: 'note',
        text: 'The journal cannot be read further: The disk is gone.',
        isTrouble: true,
      },
    ]);
    isAway = false;
    await transcript.refresh();
    expect(texts(transcript)).toEqual(['The agent started in /work with m.']);
  });
});

const TAG = { id: 'a_2' } as AgentTag;
const event = (type: string, more: object): FeedItem => ({
  type: 'stream.event',
  event: { type, index: 0, ...more },
});
const opens = (block: object, index = 0) =>
  event('content_block_start', { content_block: block, index });
const delta = (fields: object, index = 0) => event('content_block_delta', { delta: fields, index });
const stops = (index = 0) => event('content_block_stop', { index });
const requested: FeedItem = { type: 'request.started', ...attempt, model: 'm' };
const message = (content: string): FeedItem => ({
  type: 'assistant.message',
  messageId: 'msg',
  model: 'm',
  content,
  stopReason: 'end_turn',
  usage: NO_USAGE,
});

describe('an open transcript in the process of its agent', () => {
  const openLive = async () => {
    const { journals, journal } = await openSession();
    const transcripts = new OpenTranscripts(journals);
    const transcript = transcripts.open('s_1', 'a_2');
    await rest();
    const hear = (...items: readonly FeedItem[]) => {
      for (const item of items)
        transcripts.takeFeedItem('s_1', 'a_1', { type: 'agent.feed', agent: TAG, item });
    };
    const shown = () =>
      transcript.items
        .slice(1)
        .map(({ kind, text, isUnfinished = false }) => [kind, text, isUnfinished]);
    return { transcripts, transcript, journal, hear, shown };
  };

  test('grows token by token, and what is on record in the end is not shown twice', async () => {
    const { journal, hear, shown } = await openLive();
    hear(requested, opens({ type: 'text', text: '' }), delta({ type: 'text_delta', text: 'It ' }));
    expect(shown()).toEqual([['text', 'It ', true]]);
    hear(delta({ type: 'text_delta', text: 'works.' }));
    expect(shown()).toEqual([['text', 'It works.', true]]);
    journal.append(answer(said('It works.')));
    hear(stops(), message(said('It works.')));
    expect(shown()).toEqual([['text', 'It works.', false]]);
    await rest();
    expect(shown()).toEqual([['text', 'It works.', false]]);
  });

  test('does not mind to hear of a message after it has read it', async () => {
    const { transcript, journal, hear, shown } = await openLive();
    hear(requested, opens({ type: 'text', text: '' }), delta({ text: 'Done.' }));
    journal.append(answer(said('Done.')));
    await (transcript as AgentTranscript).refresh();
    hear(stops(), message(said('Done.')));
    await rest();
    expect(shown()).toEqual([['text', 'Done.', false]]);
  });

  test('takes back what an attempt has said that does not count', async () => {
    const { hear, shown } = await openLive();
    hear(requested, opens({ type: 'text', text: '' }), delta({ text: 'It wo' }));
    hear({ type: 'attempt.discarded', ...attempt, reason: 'cut' });
    expect(shown()).toEqual([]);
    hear(requested, opens({ type: 'text', text: '' }), delta({ text: 'Again' }));
    expect(shown()).toEqual([['text', 'Again', true]]);
  });

  test('shows thoughts and calls while they are written', async () => {
    const { hear, shown } = await openLive();
    hear(requested, opens({ type: 'thinking', thinking: '' }), delta({ thinking: 'Hm.' }));
    hear(opens({ type: 'tool_use', id: 'c_1', name: 'Bash', input: {} }, 1));
    hear(delta({ partial_json: '{"command":"ls' }, 1));
    expect(shown()).toEqual([
      ['thinking', 'Hm.', true],
      ['call', 'Bash {"command":"ls', true],
    ]);
    hear(delta({ partial_json: ' -l"}' }, 1), stops(1));
    expect(shown()[1]).toEqual(['call', 'Bash ls -l', true]);
  });

  test('hears its own agent alone', async () => {
    const { transcripts, hear, shown } = await openLive();
    transcripts.takeFeedItem('s_1', 'a_1', opens({ type: 'text', text: 'of the lead' }));
    transcripts.takeFeedItem('s_9', 'a_2', opens({ type: 'text', text: 'of another session' }));
    expect(shown()).toEqual([]);
    hear(event('ping', {}), { type: 'stream.event', event: { type: 'message_start' } });
    hear(delta({ partial_json: '{}' }, 7), opens({ type: 'unheard-of' }));
    expect(shown()).toEqual([]);
  });

  test('begins with what was said before it was opened, and goes on by itself', async () => {
    const { journals } = await openSession();
    const speech = new LiveMessages();
    const tell = (...items: readonly FeedItem[]) => {
      for (const item of items) speech.take('a_2', item, 0);
    };
    tell(requested, opens({ type: 'text', text: '' }), delta({ text: 'one two ' }));
    const transcripts = new OpenTranscripts(journals, speech);
    const feed = (item: FeedItem) =>
      transcripts.takeFeedItem('s_1', 'a_1', { type: 'agent.feed', agent: TAG, item });
    const first = transcripts.open('s_1', 'a_2');
    feed(delta({ text: 'three' }));
    tell(delta({ text: 'three' }));
    const second = transcripts.open('s_1', 'a_2');
    expect([first, second].map(texts)).toEqual([['one two three'], ['one two three']]);
    tell(message(said('one two three.')));
    expect(texts(transcripts.open('s_1', 'a_2'))).toEqual([]);
    expect(texts(transcripts.open('s_1', 'a_1'))).toEqual([]);
  });

  test('joins in the middle of what is being said', async () => {
    const { hear, shown } = await openLive();
    hear(delta({ text: ' and then' }), delta({ text: ' more' }));
    expect(shown()).toEqual([['text', '… and then more', true]]);
  });
});
