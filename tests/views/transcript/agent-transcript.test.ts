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
const textBlocks = (text: string) => JSON.stringify([{ type: 'text', text }]);

/** Session with a child, counting the reads of its journal. */
const openSession = async () => {
  const store = new MemorySessionStore(virtualClock());
  const session = await store.create(meta());
  const journal = await session.journal('a_2', 'a_1');
  journal.append(createdFor('a_2', 'a_1'));
  let reads = 0;
  const journals: Pick<SessionStore, 'watchRecords'> = {
    watchRecords: (...of) => {
      const watch = store.watchRecords(...of);
      return {
        next: () => {
          reads += 1;
          return watch.next();
        },
      };
    },
  };
  const news = store.watch('s_1');
  return { journals, journal, reads: () => reads, events: () => news.next() };
};

const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
const texts = ({ items }: OpenTranscript) => items.map(({ text }) => text);
const settled = async (transcript: OpenTranscript) => {
  await pause();
  return texts(transcript).slice(1);
};

describe('an open transcript', () => {
  test('shows the records, and reads again only after an event that cites a new record', async () => {
    const { journals, journal, reads, events } = await openSession();
    journal.append(letter('l_1', 'Mend it.'));
    const transcripts = new OpenTranscripts(journals);
    const transcript = transcripts.open('s_1', 'a_2');
    expect(await settled(transcript)).toEqual(['Mend it.']);
    const before = reads();
    transcripts.takeEvents(await events());
    await pause();
    expect(reads()).toBe(before);
    journal.append(answer(textBlocks('Done.')));
    const fresh = await events();
    transcripts.takeEvents(fresh.map((event) => ({ ...event, agent: 'a_1' })));
    transcripts.takeEvents(fresh.map((event) => ({ ...event, swarm: 's_9' })));
    expect(await settled(transcript)).toEqual(['Mend it.']);
    let notified = 0;
    transcript.watch(() => {
      notified += 1;
    });
    transcripts.takeEvents(fresh);
    expect(await settled(transcript)).toEqual(['Mend it.', 'Done.']);
    expect([notified, reads() - before]).toEqual([1, 2]);
  });

  test('stops reading when it is closed', async () => {
    const { journals, journal, reads, events } = await openSession();
    const transcripts = new OpenTranscripts(journals);
    const transcript = transcripts.open('s_1', 'a_2');
    await pause();
    transcript.close();
    const before = reads();
    journal.append(letter('l_1'));
    transcripts.takeEvents(await events());
    await pause();
    expect([reads() - before, texts(transcript).length]).toEqual([0, 1]);
  });

  test('shows why it cannot be read, and continues when it can', async () => {
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
    await pause();
    expect(transcript.items).toMatchObject([
      {
        kind: 'note',
        text: 'The journal cannot be read further: The disk is gone.',
        isProblem: true,
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
    await pause();
    const feedChild = (...items: readonly FeedItem[]) => {
      for (const item of items)
        transcripts.takeFeedItem('s_1', 'a_1', { type: 'agent.feed', agent: TAG, item });
    };
    const shown = () =>
      transcript.items
        .slice(1)
        .map(({ kind, text, isUnfinished = false }) => [kind, text, isUnfinished]);
    return { transcripts, transcript, journal, feedChild, shown };
  };

  test('grows token by token, and shows a recorded message only once', async () => {
    const { journal, feedChild, shown } = await openLive();
    feedChild(
      requested,
      opens({ type: 'text', text: '' }),
      delta({ type: 'text_delta', text: 'It ' }),
    );
    expect(shown()).toEqual([['text', 'It ', true]]);
    feedChild(delta({ type: 'text_delta', text: 'works.' }));
    expect(shown()).toEqual([['text', 'It works.', true]]);
    journal.append(answer(textBlocks('It works.')));
    feedChild(stops(), message(textBlocks('It works.')));
    expect(shown()).toEqual([['text', 'It works.', false]]);
    await pause();
    expect(shown()).toEqual([['text', 'It works.', false]]);
  });

  test('ignores a message in the feed that it has already read from the journal', async () => {
    const { transcript, journal, feedChild, shown } = await openLive();
    feedChild(requested, opens({ type: 'text', text: '' }), delta({ text: 'Done.' }));
    journal.append(answer(textBlocks('Done.')));
    await (transcript as AgentTranscript).refresh();
    feedChild(stops(), message(textBlocks('Done.')));
    await pause();
    expect(shown()).toEqual([['text', 'Done.', false]]);
  });

  test('removes the text of a discarded attempt', async () => {
    const { feedChild, shown } = await openLive();
    feedChild(requested, opens({ type: 'text', text: '' }), delta({ text: 'It wo' }));
    feedChild({ type: 'attempt.discarded', ...attempt, reason: 'cut' });
    expect(shown()).toEqual([]);
    feedChild(requested, opens({ type: 'text', text: '' }), delta({ text: 'Again' }));
    expect(shown()).toEqual([['text', 'Again', true]]);
  });

  test('shows thinking and calls while they are streamed', async () => {
    const { feedChild, shown } = await openLive();
    feedChild(requested, opens({ type: 'thinking', thinking: '' }), delta({ thinking: 'Hm.' }));
    feedChild(opens({ type: 'tool_use', id: 'c_1', name: 'Bash', input: {} }, 1));
    feedChild(delta({ partial_json: '{"command":"ls' }, 1));
    expect(shown()).toEqual([
      ['thinking', 'Hm.', true],
      ['call', 'Bash {"command":"ls', true],
    ]);
    feedChild(delta({ partial_json: ' -l"}' }, 1), stops(1));
    expect(shown()[1]).toEqual(['call', 'Bash ls -l', true]);
  });

  test('ignores the feed of other agents', async () => {
    const { transcripts, feedChild, shown } = await openLive();
    transcripts.takeFeedItem('s_1', 'a_1', opens({ type: 'text', text: 'of the lead' }));
    transcripts.takeFeedItem('s_9', 'a_2', opens({ type: 'text', text: 'of another session' }));
    expect(shown()).toEqual([]);
    feedChild(event('ping', {}), { type: 'stream.event', event: { type: 'message_start' } });
    feedChild(delta({ partial_json: '{}' }, 7), opens({ type: 'unheard-of' }));
    expect(shown()).toEqual([]);
  });

  test('starts with the text that was streamed before it was opened, and continues', async () => {
    const { journals } = await openSession();
    const liveMessages = new LiveMessages();
    const takeLive = (...items: readonly FeedItem[]) => {
      for (const item of items) liveMessages.take('a_2', item, 0);
    };
    takeLive(requested, opens({ type: 'text', text: '' }), delta({ text: 'one two ' }));
    const transcripts = new OpenTranscripts(journals, liveMessages);
    const feed = (item: FeedItem) =>
      transcripts.takeFeedItem('s_1', 'a_1', { type: 'agent.feed', agent: TAG, item });
    const first = transcripts.open('s_1', 'a_2');
    feed(delta({ text: 'three' }));
    takeLive(delta({ text: 'three' }));
    const second = transcripts.open('s_1', 'a_2');
    expect([first, second].map(texts)).toEqual([['one two three'], ['one two three']]);
    takeLive(message(textBlocks('one two three.')));
    expect(texts(transcripts.open('s_1', 'a_2'))).toEqual([]);
    expect(texts(transcripts.open('s_1', 'a_1'))).toEqual([]);
  });

  test('marks the missing start of a message that was already streaming', async () => {
    const { feedChild, shown } = await openLive();
    feedChild(delta({ text: ' and then' }), delta({ text: ' more' }));
    expect(shown()).toEqual([['text', '… and then more', true]]);
  });
});
