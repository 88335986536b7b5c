/** Session screen: scroll-back, live part, prompt, and full-screen scenes on top. */
import type { ReactNode } from 'react';
import type { LeadSession } from '../../actors/session/lead-session.js';
import { chartStyle } from '../../terminal/charts/chart-style.js';
import type { KeyScreen } from '../../terminal/input/key-terminal.js';
import type { Key, LineEditor } from '../../terminal/input/line-editor.js';
import { type Paint, paintFor, wantsColour } from '../../terminal/terminal.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { cutText } from '../../terminal/text/fit-text.js';
import { inboxLines } from '../inbox/inbox-lines.js';
import { openFullQuestion } from '../inbox/open-full-question.js';
import { QuestionInbox } from '../inbox/question-inbox.js';
import { ScreenSurface } from '../inbox/screen-surface.js';
import { glyphsFor } from '../screen/glyphs.js';
import { Observable } from '../screen/observable.js';
import { Pager, type PagerText } from '../screen/pager.js';
import type { Cursor, Size } from '../screen/painter.js';
import { type FullScreenScene, SceneStack } from '../screen/scene-stack.js';
import { Screen } from '../screen/screen.js';
import { callLines } from './call-log.js';
import { CompletionMenu } from './completion-menu.js';
import { cursorOf, LivePart, type LivePartState } from './live-part.js';
import { LiveState } from './live-state.js';
import { type StatusFacts, statusLine } from './status-line.js';

interface SessionScreenOptions {
  readonly host: TerminalHost;
  readonly session: () => LeadSession | undefined;
  readonly status: () => Omit<StatusFacts, 'running' | 'waiting'>;
  readonly nameOf: (agent: string) => string;
  readonly purposeOf: (agent: string) => string | undefined;
  /** Switches to the next permission mode. */
  readonly changeMode: () => void;
  readonly interruptRun: () => void;
  /** Returns the files of the workspace, newest first; undefined during the first search. */
  readonly files: () => readonly string[] | undefined;
  /** Returns the existing images that a draft names. */
  readonly imagesIn: (text: string) => readonly string[];
  /** Returns the swarm scene; undefined if there is no session yet. */
  readonly openSwarm: (close: () => void, inbox: QuestionInbox) => FullScreenScene | undefined;
  readonly onDefect: (error: unknown) => void;
}

/** Drafts from this length on are not searched for images. */
const MAX_IMAGE_DRAFT_LENGTH = 20_000;
const OLDER_CALLS = '(Earlier calls are not kept here; skein explain lists them.)';
const HOW_TO_ANSWER = 'Tab (Ctrl-Y while you type)';

export class SessionScreen implements KeyScreen {
  readonly live: LiveState;
  readonly surface: ScreenSurface;
  private readonly options: SessionScreenOptions;
  private readonly paint: Paint;
  private readonly screen: Screen;
  private readonly inbox: QuestionInbox;
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
    const { host, nameOf, purposeOf, onDefect } = options;
    this.paint = paintFor(wantsColour(host));
    this.screen = new Screen(host, onDefect);
    this.scenes = new SceneStack(this.screen);
    this.menu = new CompletionMenu(options.files);
    const { paint, scenes } = this;
    this.inbox = new QuestionInbox({
      showFull: (entry) =>
        openFullQuestion(entry, { inbox: this.inbox, scenes, paint, size: this.screen.size }),
    });
    this.live = new LiveState({
      paint: this.paint,
      glyphs: glyphsFor(chartStyle(host).unicode),
      onDraftChange: () => this.draftChanged(),
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
    for (const part of [this.live, this.inbox]) part.watch(() => this.drawn.notifyNow());
  }

  acquire(): void {
    this.screen.acquire();
    if (this.isShown) return;
    this.isShown = true;
    this.screen.showInline({
      content: this.drawn,
      draw: (size) => this.draw(size),
      cursor: (height) => this.cursor(height),
    });
  }

  get display(): LiveState {
    return this.live;
  }

  press(key: Key, editor: LineEditor): boolean {
    this.editor = editor;
    const isCommand = key.ctrl === true && ['c', 'z', 'l'].includes(key.name ?? '');
    // Ctrl-Z works in every scene.
    if (isCommand && key.name === 'z') return false;
    if (this.scenes.press(key)) {
      // The next key may still be meant for the scene.
      this.inbox.restartGrace();
      return true;
    }
    if (isCommand && key.name === 'c' && this.inbox.isFocused) {
      // The prompt is hidden, so Ctrl-C interrupts the run and not the draft.
      this.inbox.blur();
      this.options.interruptRun();
      return true;
    }
    if (isCommand) return false;
    if (this.inbox.isFocused) this.pressAtQuestion(key);
    else if (!this.pressCommand(key) && !this.pressInMenu(key, editor)) {
      return this.pressForQuestion(key, editor);
    }
    return true;
  }

  paste(text: string): boolean {
    if (this.scenes.paste(text)) return true;
    if (!this.inbox.isFocused) return false;
    this.inbox.paste(text);
    return true;
  }

  release(): void {
    this.screen.release();
  }

  closeScenes(): void {
    this.scenes.close();
  }

  close(): void {
    this.surface.close();
    this.live.close();
    this.scenes.close();
    this.screen.close();
  }

  private pressCommand({ name, ctrl = false, shift = false }: Key): boolean {
    if (name === 'tab' && shift) this.options.changeMode();
    else if (!ctrl) return false;
    else if (name === 'o') this.openCalls();
    else if (name === 's') this.openSwarm();
    else if (name === 'y') this.inbox.focus();
    else return false;
    return true;
  }

  /** Handles Ctrl keys that open a scene; other keys answer the question. */
  private pressAtQuestion(key: Key): void {
    if (key.ctrl !== true || !this.pressCommand(key)) this.inbox.press(key);
  }

  private pressInMenu({ name = '', ctrl = false, meta = false }: Key, editor: LineEditor): boolean {
    const { menu } = this;
    if (!menu.isOpen || ctrl || meta) return false;
    if (name === 'up' || name === 'down') return menu.move(name === 'up' ? -1 : 1);
    if (name === 'escape') menu.dismiss(editor.draft);
    else if (name === 'tab' || (name === 'return' && !menu.isFullyTyped(editor.draft))) {
      editor.reset(menu.accept(editor.draft) ?? editor.draft);
    } else return false;
    return true;
  }

  /** Handles Tab on an empty draft: focuses a question that is shown long enough to be read. */
  private pressForQuestion({ name, ctrl = false, meta = false }: Key, editor: LineEditor): boolean {
    if (name !== 'tab' || ctrl || meta || editor.isInUse) return false;
    if (this.inbox.isSeen) this.inbox.focus();
    return true;
  }

  /** Updates the menu after a change of the draft or of the files. */
  draftChanged(): void {
    const { editor, menu } = this;
    if (editor === undefined) return;
    // In a recalled prompt the arrow keys browse the history, not the menu.
    if (editor.isRecalled) menu.close();
    else menu.update(editor.draft);
  }

  /** Searches once per text and only when a frame is drawn, because people type fast. */
  private imagesNamed(): readonly string[] {
    const text = this.editor?.draft.text ?? '';
    if (text === this.images.text) return this.images.paths;
    const isNamed = text.length < MAX_IMAGE_DRAFT_LENGTH && /\.(?:png|jpe?g|gif|webp)/i.test(text);
    this.images = { text, paths: isNamed ? this.options.imagesIn(text) : [] };
    return this.images.paths;
  }

  /** Opens the pager at the newest call; left and right show other calls. */
  private openCalls(): void {
    const { log } = this.live;
    const { calls } = log;
    let at = calls.length - 1;
    const textAt = (index: number): PagerText => {
      const call = calls[index];
      if (call === undefined) return { title: 'No call has ended yet', lines: () => [] };
      const { forgotten } = log;
      const number = `${forgotten + index + 1} of ${forgotten + calls.length}`;
      return {
        title: `${number}: ${call.label} (${call.report.word})`,
        lines: (columns) => [
          ...(index === 0 && forgotten > 0 ? [cutText(OLDER_CALLS, columns)] : []),
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
        pager.show(textAt(at));
        return true;
      };
      const pager = new Pager(textAt(at), { paint, size: screen.size, close, press });
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
    const { live, inbox, menu, paint } = this;
    const { running, queued } = live.agents.counts();
    const waiting = queued + inbox.entries.length;
    const facts = { ...this.options.status(), running, waiting };
    const { chosen } = live.options.glyphs;
    const now = Date.now();
    return {
      live,
      menu,
      images: this.imagesNamed(),
      activity: this.activity(),
      inbox: (rows) =>
        inboxLines(inbox, { columns, rows, paint, sign: chosen, now, howTo: HOW_TO_ANSWER }),
      isAnswering: inbox.isFocused,
      status: statusLine(facts, columns, paint),
    };
  }

  /** Returns the state of the lead; undefined while it is idle. */
  private activity(): string | undefined {
    const session = this.options.session();
    if (session === undefined) return undefined;
    const { state, isIdle } = session;
    return isIdle && state !== 'compacting' ? undefined : state;
  }
}
