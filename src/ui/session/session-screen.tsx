/** The session on a screen: what was said above, what is under way below, and the prompt at the bottom. */
import type { ReactNode } from 'react';
import type { LeadSession } from '../../actors/session/session.js';
import type { KeyScreen } from '../../terminal/input/key-terminal.js';
import type { Key, LineEditor } from '../../terminal/input/line-editor.js';
import { type Paint, paintFor, wantsColour } from '../../terminal/terminal.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { chartStyle } from '../../terminal/text/bar-chart.js';
import { cut } from '../../terminal/text/text-fit.js';
import { openEntry } from '../inbox/full-question.js';
import { Inbox } from '../inbox/inbox.js';
import { inboxLines } from '../inbox/inbox-lines.js';
import { ScreenSurface } from '../inbox/screen-surface.js';
import { signsFor } from '../screen/glyphs.js';
import { Observable } from '../screen/observable.js';
import { Pager, type Pages } from '../screen/pager.js';
import type { Cursor, Size } from '../screen/painter.js';
import { SceneStack, type WholeScene } from '../screen/scene-stack.js';
import { Screen } from '../screen/screen.js';
import { callLines } from './call-log.js';
import { CompletionMenu } from './completion-menu.js';
import { cursorOf, LivePart, type LivePartState } from './live-part.js';
import { LiveState } from './live-state.js';
import { type StatusFacts, statusLine } from './status-line.js';

export interface SessionScreenOptions {
  readonly machine: TerminalHost;
  readonly session: () => LeadSession | undefined;
  readonly status: () => Omit<StatusFacts, 'running' | 'waiting'>;
  readonly nameOf: (agent: string) => string;
  readonly purposeOf: (agent: string) => string | undefined;
  /** The next permission mode. */
  readonly changeMode: () => void;
  readonly interruptRun: () => void;
  /** The files of the workspace, the newest first; undefined while they are looked for. */
  readonly files: () => readonly string[] | undefined;
  /** Images that a draft names and that are there. */
  readonly imagesIn: (text: string) => readonly string[];
  /** All agents on the whole screen; undefined while there is no session to look at. */
  readonly openSwarm: (close: () => void, inbox: Inbox) => WholeScene | undefined;
  readonly onDefect: (error: unknown) => void;
}

/** In a longer draft nobody sees which images it names. */
const LONGEST_LOOKED_AT = 20_000;
const OLDER_CALLS = '(Earlier calls are not kept here; skein explain lists them.)';
const HOW_TO_ANSWER = 'Tab (Ctrl-Y while you type)';

export class SessionScreen implements KeyScreen {
  readonly board: LiveState;
  readonly surface: ScreenSurface;
  private readonly options: SessionScreenOptions;
  private readonly paint: Paint;
  private readonly screen: Screen;
  private readonly inbox: Inbox;
  private readonly menu: CompletionMenu;
  private readonly drawn = new Observable();
  private readonly scenes: SceneStack;
  private editor: LineEditor | undefined;
  private isShown = false;
  private images: { readonly text: string; readonly paths: readonly string[] } = {
    text: '',
    paths: [],
  };
  private state: LivePartState | undefined;

  constructor(options: SessionScreenOptions) {
    this.options = options;
    const { machine, nameOf, purposeOf, onDefect } = options;
    this.paint = paintFor(wantsColour(machine));
    this.screen = new Screen(machine, onDefect);
    this.scenes = new SceneStack(this.screen);
    this.menu = new CompletionMenu(options.files);
    const { paint, scenes } = this;
    this.inbox = new Inbox({
      showWhole: (entry) =>
        openEntry(entry, { inbox: this.inbox, scenes, paint, size: this.screen.size }),
    });
    this.board = new LiveState({
      paint: this.paint,
      signs: signsFor(chartStyle(machine).unicode),
      drafted: () => this.drafted(),
      columns: () => this.screen.size().columns,
      print: (text) => this.screen.print(text),
      clear: () => this.screen.clear(),
      isActive: () => this.activity() !== undefined,
    });
    this.surface = new ScreenSurface({
      inbox: this.inbox,
      nameOf,
      purposeOf,
      ring: () => this.screen.ring(),
      now: () => Date.now(),
    });
    for (const part of [this.board, this.inbox]) part.watch(() => this.drawn.changedNow());
  }

  take(): void {
    this.screen.take();
    if (this.isShown) return;
    this.isShown = true;
    this.screen.showInline({
      shown: this.drawn,
      draw: (size) => this.draw(size),
      cursor: (height) => this.cursor(height),
    });
  }

  get display(): LiveState {
    return this.board;
  }

  press(key: Key, editor: LineEditor): boolean {
    this.editor = editor;
    const isCommand = key.ctrl === true && ['c', 'z', 'l'].includes(key.name ?? '');
    // The way to the shell is open from anywhere.
    if (isCommand && key.name === 'z') return false;
    if (this.scenes.press(key)) {
      // What is pressed next may still be meant for what was on top.
      this.inbox.rearm();
      return true;
    }
    if (isCommand && key.name === 'c' && this.inbox.isTurnedTo) {
      // The line is hidden, so it is not what is meant.
      this.inbox.turnAway();
      this.options.interruptRun();
      return true;
    }
    if (isCommand) return false;
    if (this.inbox.isTurnedTo) this.pressAtQuestion(key);
    else if (!this.pressCommand(key) && !this.pressInMenu(key, editor)) {
      return this.pressForQuestion(key, editor);
    }
    return true;
  }

  paste(text: string): boolean {
    if (this.scenes.paste(text)) return true;
    if (!this.inbox.isTurnedTo) return false;
    this.inbox.paste(text);
    return true;
  }

  giveBack(): void {
    this.screen.giveBack();
  }

  uncover(): void {
    this.scenes.close();
  }

  close(): void {
    this.surface.close();
    this.board.close();
    this.scenes.close();
    this.screen.close();
  }

  private pressCommand({ name, ctrl = false, shift = false }: Key): boolean {
    if (name === 'tab' && shift) this.options.changeMode();
    else if (!ctrl) return false;
    else if (name === 'o') this.openCalls();
    else if (name === 's') this.openSwarm();
    else if (name === 'y') this.inbox.turnTo();
    else return false;
    return true;
  }

  /** What opens something on top does so here too; other keys answer. */
  private pressAtQuestion(key: Key): void {
    if (key.ctrl !== true || !this.pressCommand(key)) this.inbox.press(key);
  }

  private pressInMenu({ name = '', ctrl = false, meta = false }: Key, editor: LineEditor): boolean {
    const { menu } = this;
    if (!menu.isOpen || ctrl || meta) return false;
    if (name === 'up' || name === 'down') return menu.move(name === 'up' ? -1 : 1);
    if (name === 'escape') menu.dismiss(editor.draft);
    else if (name === 'tab' || (name === 'return' && !menu.isTyped(editor.draft))) {
      editor.reset(menu.take(editor.draft) ?? editor.draft);
    } else return false;
    return true;
  }

  /** With nothing typed Tab turns to the question that somebody has seen, or does nothing if it has just gone. */
  private pressForQuestion({ name, ctrl = false, meta = false }: Key, editor: LineEditor): boolean {
    if (name !== 'tab' || ctrl || meta || editor.isInUse) return false;
    if (this.inbox.isSeen) this.inbox.turnTo();
    return true;
  }

  /** What is typed, or what could be suggested for it, has changed. */
  drafted(): void {
    const { editor, menu } = this;
    if (editor === undefined) return;
    // The arrows that brought it here lead on to others.
    if (editor.isRecalled) menu.close();
    else menu.update(editor.draft);
  }

  /** Looked for once for each text, when it is drawn: somebody may type quickly. */
  private imagesNamed(): readonly string[] {
    const text = this.editor?.draft.text ?? '';
    if (text === this.images.text) return this.images.paths;
    const isNamed = text.length < LONGEST_LOOKED_AT && /\.(?:png|jpe?g|gif|webp)/i.test(text);
    this.images = { text, paths: isNamed ? this.options.imagesIn(text) : [] };
    return this.images.paths;
  }

  /** The newest call first; the others are beside it. */
  private openCalls(): void {
    const { log } = this.board;
    const { calls } = log;
    let at = calls.length - 1;
    const pageOf = (place: number): Pages => {
      const call = calls[place];
      if (call === undefined) return { title: 'No call has ended yet', lines: () => [] };
      const { forgotten } = log;
      const number = `${forgotten + place + 1} of ${forgotten + calls.length}`;
      return {
        title: `${number}: ${call.label} (${call.report.word})`,
        lines: (columns) => [
          ...(place === 0 && forgotten > 0 ? [cut(OLDER_CALLS, columns)] : []),
          ...callLines(call, columns, this.paint),
        ],
        keys: ' · left and right other calls',
      };
    };
    const { paint, screen } = this;
    this.scenes.open((close) => {
      const press = (name: string) => {
        if (name !== 'left' && name !== 'right') return false;
        at = Math.max(0, Math.min(calls.length - 1, at + (name === 'left' ? -1 : 1)));
        pager.turn(pageOf(at));
        return true;
      };
      const pager = new Pager(pageOf(at), { paint, size: screen.size, close, press });
      return pager;
    });
  }

  private openSwarm(): void {
    this.scenes.open((close) => this.options.openSwarm(close, this.inbox));
  }

  private draw(size: Size): ReactNode {
    this.state = this.stateFor(size);
    return <LivePart state={this.state} size={size} />;
  }

  private cursor(height: number): Cursor | undefined {
    return this.state && cursorOf(this.state, height, this.screen.size());
  }

  private stateFor({ columns }: Size): LivePartState {
    const { board, inbox, menu, paint } = this;
    const { running, queued } = board.agents.counts();
    const waiting = queued + inbox.entries.length;
    const facts = { ...this.options.status(), running, waiting };
    const { chosen: sign } = board.options.signs;
    const now = Date.now();
    return {
      board,
      menu,
      images: this.imagesNamed(),
      activity: this.activity(),
      inbox: (rows) => inboxLines(inbox, { columns, rows, paint, sign, now, howTo: HOW_TO_ANSWER }),
      isAnswering: inbox.isTurnedTo,
      status: statusLine(facts, columns, paint),
    };
  }

  /** In the word of the lead's state; undefined while it rests. */
  private activity(): string | undefined {
    const session = this.options.session();
    if (session === undefined) return undefined;
    const { state, isResting } = session;
    return isResting && state !== 'compacting' ? undefined : state;
  }
}
