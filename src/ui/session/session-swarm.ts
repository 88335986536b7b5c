/** The swarm of the session that is shown, on the whole screen: from its store, and what is being said from its feed. */
import type { FeedItem } from '../../protocol/session/feed.js';
import type { SessionMeta } from '../../protocol/session/store.js';
import type { FaceHost } from '../../terminal/output/session-view.js';
import { speakerOf } from '../../views/transcript/agent-transcript.js';
import { LiveSpeech } from '../../views/transcript/live-messages.js';
import type { Inbox } from '../inbox/inbox.js';
import { waitingLine } from '../inbox/waiting-question-line.js';
import type { WholeScene } from '../screen/scene-stack.js';
import { lookOn } from '../screen/terminal-style.js';
import { StoreSource } from '../swarm/store-source.js';
import { SwarmScene } from '../swarm/swarm-scene.js';

export class SessionSwarm {
  private readonly host: FaceHost;
  /** While somebody looks at it. */
  private source: StoreSource | undefined;
  /** Also while nobody looks: whoever begins to sees the whole sentence. */
  private speech = { session: '', live: new LiveSpeech() };

  constructor(host: FaceHost) {
    this.host = host;
  }

  /** Undefined before there is a session. */
  open(close: () => void, inbox: Inbox): WholeScene | undefined {
    const { host } = this;
    const [session, store] = [host.session(), host.store()];
    if (session === undefined || store === undefined) return undefined;
    // A question may have taken the last one off the screen.
    this.close();
    const source = new StoreSource(store, session.meta, this.speechIn(session.meta));
    source.done.catch((error: unknown) => host.onDefect(error));
    this.source = source;
    const leave = () => {
      this.close();
      close();
    };
    const look = lookOn(host.machine);
    return new SwarmScene({
      source,
      look,
      title: 'the swarm',
      leave,
      hints: [{ key: 'i', says: 'questions' }],
      help: [{ key: 'i', says: 'to the questions that wait' }],
      press: ({ name, ctrl = false, meta = false }) => {
        if (name !== 'i' || ctrl || meta) return false;
        if (inbox.entries.length === 0) return true;
        leave();
        inbox.turnTo();
        return true;
      },
      line: (width) => look.paint.warn(waitingLine(inbox.entries.length, width)),
    });
  }

  hear(item: FeedItem): void {
    const session = this.host.session();
    if (session === undefined) return;
    const { agent, said } = speakerOf(session.meta.lead, item);
    this.speechIn(session.meta).take(agent, said, Date.now());
    this.source?.hear(session.meta, item);
  }

  private speechIn({ id }: SessionMeta): LiveSpeech {
    if (this.speech.session !== id) this.speech = { session: id, live: new LiveSpeech() };
    return this.speech.live;
  }

  close(): void {
    this.source?.stop();
    this.source = undefined;
  }
}
