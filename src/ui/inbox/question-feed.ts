/** What a swarm screen has of questions: a line that says how many wait, and a key that opens them. */
import type { SessionStore } from '../../protocol/session/store.js';
import type { Key } from '../../terminal/input/line-editor.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { cut } from '../../terminal/text/text-fit.js';
import { signsFor } from '../screen/glyphs.js';
import type { SceneStack } from '../screen/scene-stack.js';
import type { Screen } from '../screen/screen.js';
import { lookOn } from '../screen/terminal-style.js';
import type { SwarmSource } from '../swarm/swarm-source.js';
import { openEntry } from './full-question.js';
import { Inbox } from './inbox.js';
import { InboxScene } from './inbox-scene.js';
import { StoreInbox } from './store-inbox.js';
import { waitingLine } from './waiting-question-line.js';

export interface QuestionWatchOptions {
  readonly machine: TerminalHost;
  readonly store: SessionStore;
  readonly source: SwarmSource;
  readonly screen: Screen;
  readonly scenes: SceneStack;
  readonly onDefect: (error: unknown) => void;
}

/** How long it is said what came of an answer. */
const SAID_MS = 5_000;

export class QuestionWatch {
  private readonly options: QuestionWatchOptions;
  private readonly inbox: Inbox;
  private readonly desk: StoreInbox;
  private readonly forget: () => void;
  private said = { sentence: '', until: 0 };

  constructor(options: QuestionWatchOptions) {
    this.options = options;
    const { machine, store, source, screen, onDefect } = options;
    const { paint } = lookOn(machine);
    const { scenes } = options;
    this.inbox = new Inbox({
      showWhole: (entry) =>
        openEntry(entry, { inbox: this.inbox, scenes, paint, size: screen.size }),
    });
    this.desk = new StoreInbox({
      machine,
      store,
      inbox: this.inbox,
      swarms: () => source.swarms(),
      onDefect,
      keep: (work) => source.keep?.(work) ?? work,
      ring: () => screen.ring(),
      say: (sentence) => {
        this.said = { sentence, until: performance.now() + SAID_MS };
        this.inbox.changedNow();
      },
    });
    this.forget = source.watch(() => this.desk.refresh());
    this.desk.refresh();
  }

  close(): void {
    this.forget();
    this.desk.close();
  }

  /** True for a key of its own. */
  press({ name, ctrl = false, meta = false }: Key): boolean {
    if (name !== 'i' || ctrl || meta) return false;
    const { machine, scenes } = this.options;
    const { paint, unicode } = lookOn(machine);
    const sign = signsFor(unicode).chosen;
    scenes.open(
      (leave) =>
        new InboxScene({ inbox: this.inbox, paint, sign, said: () => this.sentence(), leave }),
    );
    return true;
  }

  /** Empty when nothing is asked and nothing has been said. */
  line(width: number): string {
    const { paint } = lookOn(this.options.machine);
    const many = this.inbox.entries.length;
    if (many === 0) return paint.dim(cut(this.sentence(), width));
    return paint.warn(waitingLine(many, width));
  }

  private sentence(): string {
    return performance.now() < this.said.until ? this.said.sentence : '';
  }
}
