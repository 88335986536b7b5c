/** Swarm inbox: the questions of a swarm screen, with a status line and the key that opens them. */
import type { SessionStore } from '../../protocol/session/session-store.js';
import type { Key } from '../../terminal/input/line-editor.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { cutText } from '../../terminal/text/fit-text.js';
import { glyphsFor } from '../screen/glyphs.js';
import type { SceneStack } from '../screen/scene-stack.js';
import type { Screen } from '../screen/screen.js';
import { terminalStyle } from '../screen/terminal-style.js';
import type { SwarmDataSource } from '../swarm/swarm-data-source.js';
import { waitingQuestionLine } from './inbox-lines.js';
import { InboxScene } from './inbox-scene.js';
import { openFullQuestion } from './open-full-question.js';
import { QuestionInbox } from './question-inbox.js';
import { StoreInbox } from './store-inbox.js';

interface SwarmInboxOptions {
  readonly host: TerminalHost;
  readonly store: SessionStore;
  readonly source: SwarmDataSource;
  readonly screen: Screen;
  readonly scenes: SceneStack;
  readonly onDefect: (error: unknown) => void;
}

/** Time for which the outcome of an answer is shown. */
const NOTICE_MS = 5_000;

export class SwarmInbox {
  private readonly options: SwarmInboxOptions;
  private readonly inbox: QuestionInbox;
  private readonly storeInbox: StoreInbox;
  private readonly stopWatching: () => void;
  private notice = { sentence: '', until: 0 };

  constructor(options: SwarmInboxOptions) {
    this.options = options;
    const { host, store, source, screen, onDefect } = options;
    const { paint } = terminalStyle(host);
    const { scenes } = options;
    this.inbox = new QuestionInbox({
      showFull: (entry) =>
        openFullQuestion(entry, { inbox: this.inbox, scenes, paint, size: screen.size }),
    });
    this.storeInbox = new StoreInbox({
      host,
      store,
      inbox: this.inbox,
      swarms: () => source.swarms(),
      onDefect,
      track: (answer) => source.track?.(answer) ?? answer,
      ring: () => screen.ring(),
      notify: (sentence) => {
        this.notice = { sentence, until: performance.now() + NOTICE_MS };
        this.inbox.notifyNow();
      },
    });
    this.stopWatching = source.watch(() => this.storeInbox.refresh());
    this.storeInbox.refresh();
  }

  close(): void {
    this.stopWatching();
    this.storeInbox.close();
  }

  /** Opens the inbox scene at `i`. Returns false for other keys. */
  press({ name, ctrl = false, meta = false }: Key): boolean {
    if (name !== 'i' || ctrl || meta) return false;
    const { host, scenes } = this.options;
    const { paint, unicode } = terminalStyle(host);
    const sign = glyphsFor(unicode).chosen;
    scenes.open(
      (leave) =>
        new InboxScene({ inbox: this.inbox, paint, sign, notice: () => this.sentence(), leave }),
    );
    return true;
  }

  /** Returns the number of waiting questions, else the outcome of the last answer, else ''. */
  line(width: number): string {
    const { paint } = terminalStyle(this.options.host);
    const count = this.inbox.entries.length;
    if (count === 0) return paint.dim(cutText(this.sentence(), width));
    return paint.warn(waitingQuestionLine(count, width));
  }

  private sentence(): string {
    return performance.now() < this.notice.until ? this.notice.sentence : '';
  }
}
