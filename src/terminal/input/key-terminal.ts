/** Key terminal: edits a line key by key, and asks questions that ignore type-ahead. */

import {
  askWithdrawable,
  GRACE_MS,
  paintFor,
  type Terminal,
  type TerminalHandlers,
  type TerminalReply,
  wantsColour,
} from '../terminal.js';
import type { TerminalHost } from '../terminal-host.js';
import { echoLines, exactText } from '../text/sanitize.js';
import { EMPTY_DRAFT } from './draft.js';
import { viewDraft } from './draft-view.js';
import { type Key, type KeyResult, LineEditor, MAX_DRAFT_LENGTH } from './line-editor.js';
import { type LineDisplay, LineScreen } from './line-screen.js';
import { listenToKeys } from './listen-to-keys.js';

const PROMPT = '> ';

interface Question {
  readonly label: string;
  readonly editor: LineEditor;
  readonly settle: (reply: TerminalReply) => void;
  /** True once the keyboard was quiet for `GRACE_MS`. */
  isOpen: boolean;
}

/** Screen around the editable line. */
export interface KeyScreen {
  readonly display: LineDisplay;
  /** Offers a key to the screen before the line. Returns true if the screen handled the key. */
  press(key: Key, editor: LineEditor): boolean;
  /** Offers a paste to the screen before the line. Returns true if the screen handled it. */
  paste(text: string): boolean;
  /** Takes over the terminal. */
  acquire(): void;
  /** Restores the terminal, for a suspended process or at the end. */
  release(): void;
  /** Closes all scenes, because the question appears in the editable line. */
  closeScenes(): void;
}

export class KeyTerminal implements Terminal {
  readonly isCapable = true;
  readonly isInteractive = true;
  readonly paint;
  private readonly host: TerminalHost;
  private readonly editor: LineEditor;
  private readonly display: LineDisplay;
  /** Undefined if the session shows lines only. */
  private readonly screen: KeyScreen | undefined;
  private handlers: TerminalHandlers | undefined;
  private stopListening = () => {};
  private isBusy = true;
  private question: Question | undefined;
  private quietTimer: NodeJS.Timeout | undefined;

  constructor(host: TerminalHost, history: readonly string[], screen?: KeyScreen) {
    this.host = host;
    this.editor = new LineEditor(history);
    this.screen = screen;
    this.display =
      screen?.display ??
      new LineScreen(
        (text) => text !== '' && host.out(text),
        () => this.columns,
      );
    this.paint = paintFor(wantsColour(host));
  }

  open(handlers: TerminalHandlers): void {
    this.handlers = handlers;
    const close = listenToKeys(this.host, {
      key: (key) => this.press(key),
      paste: (text) => this.paste(text),
      end: () => handlers.end(),
    });
    const stopWatching = this.host.onResize(() => this.draw());
    this.screen?.acquire();
    this.draw();
    this.stopListening = () => {
      close();
      stopWatching();
    };
  }

  close(): void {
    clearTimeout(this.quietTimer);
    this.question?.settle({ kind: 'gone' });
    this.editor.reset();
    this.setBusy(true);
    this.freshLine();
    this.stopListening();
  }

  write(text: string): void {
    this.display.write(text);
  }

  freshLine(): void {
    this.display.freshLine();
  }

  setBusy(isBusy: boolean): void {
    this.isBusy = isBusy;
    this.draw();
  }

  ask(label: string, signal: AbortSignal, isExpected = false): Promise<TerminalReply> {
    return askWithdrawable(
      signal,
      (settle) => {
        this.screen?.closeScenes();
        this.question = { label, settle, isOpen: isExpected, editor: new LineEditor() };
        if (isExpected) this.draw();
        else this.waitForQuiet();
      },
      () => {
        clearTimeout(this.quietTimer);
        this.question = undefined;
        this.draw();
      },
    );
  }

  /** Opens the question once the keyboard is quiet, so that type-ahead does not answer an unread question. */
  private waitForQuiet(): void {
    clearTimeout(this.quietTimer);
    this.quietTimer = setTimeout(() => {
      if (this.question !== undefined) this.question.isOpen = true;
      this.draw();
    }, GRACE_MS);
  }

  private paste(text: string): void {
    const { question } = this;
    if (question === undefined && this.screen?.paste(text) === true) return;
    if (question !== undefined && !question.isOpen) {
      this.waitForQuiet();
      if (this.editor.draft.text === '') return;
    }
    this.handleResult((question?.isOpen ? question.editor : this.editor).paste(text));
  }

  private press(key: Key): void {
    const { question } = this;
    if (question === undefined && this.screen?.press(key, this.editor) === true) this.draw();
    else if (question === undefined) this.handleResult(this.editor.press(key));
    else if (question.isOpen) this.answer(question, question.editor.press(key));
    else this.typeAhead(question, key);
  }

  /** Handles keys before the question opens: edits the draft but does not send it. Esc cancels the question. */
  private typeAhead(question: Question, key: Key): void {
    const { kind } = new LineEditor().press(key);
    if (kind === 'escape' || kind === 'interrupt') {
      question.settle({ kind: 'cancelled' });
      return;
    }
    this.waitForQuiet();
    if (kind !== 'submit' && this.editor.draft.text !== '')
      this.handleResult(this.editor.press(key));
  }

  private answer({ label, settle }: Question, stroke: KeyResult): void {
    switch (stroke.kind) {
      case 'submit':
        this.display.replace(`${label}${exactText(stroke.text)}\n`);
        settle({ kind: 'line', text: stroke.text });
        break;
      case 'escape':
      case 'interrupt':
        this.display.replace(`${label}\n`);
        settle({ kind: 'cancelled' });
        break;
      case 'suspend':
        this.suspend();
        break;
      default:
        this.draw();
    }
  }

  private handleResult(stroke: KeyResult): void {
    switch (stroke.kind) {
      case 'submit':
        this.submit(stroke.text);
        break;
      case 'escape':
        this.handlers?.escape();
        break;
      case 'interrupt':
        this.interrupt();
        break;
      case 'end':
        this.handlers?.end();
        break;
      case 'suspend':
        this.suspend();
        break;
      case 'redraw':
        this.display.clear();
        this.draw();
        break;
      case 'full':
        this.freshLine();
        this.write(
          `(A prompt has at most ${MAX_DRAFT_LENGTH} characters; the rest was dropped.)\n`,
        );
        this.draw();
        break;
      case 'changed':
        this.draw();
        break;
      case 'none':
        break;
    }
  }

  /** Handles Ctrl-C: drops the draft, and interrupts an active run. On an empty draft it always calls `interrupt`. */
  private interrupt(): void {
    const hadDraft = this.editor.draft.text !== '';
    this.editor.reset(EMPTY_DRAFT);
    this.draw();
    if (this.isBusy || !hadDraft) this.handlers?.interrupt();
  }

  private submit(text: string): void {
    if (text.trim() !== '') {
      this.display.replace(`${PROMPT}${echoLines(text).join(`\n${' '.repeat(PROMPT.length)}`)}\n`);
      this.handlers?.line(text);
    }
    this.draw();
  }

  /** Handles Ctrl-Z: restores the terminal, suspends the process, and takes over again afterwards. */
  private suspend(): void {
    const { handlers } = this;
    if (this.screen === undefined) this.display.replace('');
    this.screen?.release();
    this.stopListening();
    this.host.suspend();
    if (handlers !== undefined) this.open(handlers);
    this.draw();
  }

  get columns(): number {
    return this.host.stdout.columns || 80;
  }

  /** Shows the editable line if it is a prompt, a question or in use; else hides it. */
  private draw(): void {
    const { question } = this;
    const asks = question?.isOpen === true ? question : undefined;
    const { editor = this.editor, label = PROMPT } = asks ?? {};
    const isPrompt = !this.isBusy && question === undefined;
    const isNeeded = asks !== undefined || isPrompt || editor.isInUse || this.screen !== undefined;
    this.display.show(
      isNeeded ? viewDraft(editor.label(label), editor.draft, this.columns) : undefined,
    );
  }
}
