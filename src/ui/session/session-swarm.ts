/** Session swarm: the swarm scene of the current session, from its store and its live feed. */
import type { FeedItem } from '../../protocol/session/feed.js';
import type { SessionMeta } from '../../protocol/session/session-store.js';
import type { SessionViewDeps } from '../../terminal/output/session-view.js';
import { feedSpeaker } from '../../views/transcript/agent-transcript.js';
import { LiveMessages } from '../../views/transcript/live-messages.js';
import { waitingQuestionLine } from '../inbox/inbox-lines.js';
import type { QuestionInbox } from '../inbox/question-inbox.js';
import type { FullScreenScene } from '../screen/scene-stack.js';
import { terminalStyle } from '../screen/terminal-style.js';
import { StoreSource } from '../swarm/store-source.js';
import { SwarmScene } from '../swarm/swarm-scene.js';

export class SessionSwarm {
  private readonly deps: SessionViewDeps;
  /** Defined while the scene is open. */
  private source: StoreSource | undefined;
  /** Unfinished messages. Collected before the scene opens, so that it shows the whole message. */
  private liveMessages = { session: '', live: new LiveMessages() };

  constructor(deps: SessionViewDeps) {
    this.deps = deps;
  }

  /** Opens the swarm scene. Returns undefined before the session starts. */
  open(close: () => void, inbox: QuestionInbox): FullScreenScene | undefined {
    const { deps } = this;
    const [session, store] = [deps.session(), deps.store()];
    if (session === undefined || store === undefined) return undefined;
    // A question may have closed the last scene without `leave`.
    this.close();
    const source = new StoreSource(store, session.meta, this.liveMessagesOf(session.meta));
    source.done.catch((error: unknown) => deps.onDefect(error));
    this.source = source;
    const leave = () => {
      this.close();
      close();
    };
    const style = terminalStyle(deps.host);
    return new SwarmScene({
      source,
      style,
      title: 'the swarm',
      leave,
      hints: [{ key: 'i', text: 'questions' }],
      help: [{ key: 'i', text: 'go to the waiting questions' }],
      press: ({ name, ctrl = false, meta = false }) => {
        if (name !== 'i' || ctrl || meta) return false;
        if (inbox.entries.length === 0) return true;
        leave();
        inbox.focus();
        return true;
      },
      line: (width) => style.paint.warn(waitingQuestionLine(inbox.entries.length, width)),
    });
  }

  receive(item: FeedItem): void {
    const session = this.deps.session();
    if (session === undefined) return;
    const spoken = feedSpeaker(session.meta.lead, item);
    this.liveMessagesOf(session.meta).take(spoken.agent, spoken.item, Date.now());
    this.source?.receive(session.meta, item);
  }

  private liveMessagesOf({ id }: SessionMeta): LiveMessages {
    if (this.liveMessages.session !== id)
      this.liveMessages = { session: id, live: new LiveMessages() };
    return this.liveMessages.live;
  }

  close(): void {
    this.source?.stop();
    this.source = undefined;
  }
}
