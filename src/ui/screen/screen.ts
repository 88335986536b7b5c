/**
 * A terminal with a live part at its bottom, and scenes that take all of it for a while.
 *
 * What is said goes to the scroll-back above the live part and is never written again. While a scene has
 * the whole terminal, what is said waits. However the process ends, the terminal is given back as it was.
 */
import type { ReactNode } from 'react';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { type InkView, openInkView } from './ink-view.js';
import type { Observable } from './observable.js';
import { type Cursor, type Frame, Painter, type Size } from './painter.js';

export interface Scene {
  /** What it shows; it is drawn again when that has changed. */
  readonly shown: Observable;
  /** Lines are at most as wide as the terminal, and for the whole of it as many as it has. */
  draw(size: Size): ReactNode;
  /** Puts text where `draw` has only made room for it (`Slots`), at every frame. */
  fill?(lines: readonly string[]): readonly string[];
  /** Where something is typed, in a frame of so many lines. */
  cursor?(height: number): Cursor | undefined;
}

type ScreenMachine = Pick<
  TerminalHost,
  'stdout' | 'out' | 'pace' | 'onResize' | 'onContinue' | 'lend'
>;

interface OpenScene {
  readonly scene: Scene;
  readonly view: InkView;
  readonly close: () => void;
}

/** Characters that wait for their place in the scroll-back. */
const MOST_SAID = 2_000_000;
const LEFT_OUT = '(More was said here than can be kept; skein logs and the journal have it.)';

const LEAST: Size = { columns: 20, rows: 4 };

export class Screen {
  private readonly machine: ScreenMachine;
  private readonly painter: Painter;
  private readonly onDefect: (error: unknown) => void;
  private inline: OpenScene | undefined;
  private readonly wholes: OpenScene[] = [];
  private frame: Frame = { lines: [] };
  private said = '';
  private endings: (() => void)[] = [];

  constructor(machine: ScreenMachine, onDefect: (error: unknown) => void) {
    this.machine = machine;
    this.onDefect = onDefect;
    this.painter = new Painter(machine.out, this.size);
    this.take();
  }

  readonly size = (): Size => {
    const { columns, rows } = this.machine.stdout;
    return {
      columns: Math.max(LEAST.columns, columns || 80),
      rows: Math.max(LEAST.rows, rows || 24),
    };
  };

  showInline(scene: Scene): void {
    this.inline = this.open(scene, (frame) => {
      this.frame = frame;
      this.flush();
    });
  }

  /** On top of whatever is shown, until the returned function is called. */
  showWhole(scene: Scene): () => void {
    const place = this.wholes.length;
    const opened = this.open(scene, (frame) => {
      if (this.isHeld && this.wholes.length - 1 <= place && this.isRead) {
        this.painter.paintWhole(frame);
      }
    });
    this.wholes.push(opened);
    return () => this.leave(opened);
  }

  /** Whole lines for the scroll-back. They appear with the next frame, or when `flush` is called. */
  print(text: string): void {
    this.said += text;
    if (this.said.length > MOST_SAID) this.forgetOldest();
  }

  flush(): void {
    if (this.wholes.length > 0 || !this.isHeld || !this.isRead) return;
    const { said } = this;
    this.said = '';
    this.painter.paintInline(this.frame, said);
  }

  clear(): void {
    this.painter.clear();
    this.flush();
  }

  ring(): void {
    this.machine.out('\u0007');
  }

  /** For a while, or for good: the terminal is as it was found. */
  giveBack(): void {
    for (const end of this.endings.splice(0)) end();
    this.painter.end();
    if (this.said !== '') this.machine.out(this.said.replaceAll('\n', '\r\n'));
    this.said = '';
  }

  /** Again, after `giveBack`. */
  take(): void {
    if (this.isHeld) return;
    const { pace } = this.machine;
    this.endings = [
      pace.unblock(),
      pace.onRoom(() => this.refresh()),
      this.machine.onResize(() => this.redraw()),
      this.machine.onContinue(() => {
        this.painter.leaveBehind();
        this.redraw();
      }),
      this.machine.lend(() => this.giveBack()),
    ];
    this.redraw();
  }

  close(): void {
    for (const { close } of [...this.wholes.splice(0), ...(this.inline ? [this.inline] : [])]) {
      close();
    }
    this.inline = undefined;
    this.frame = { lines: [] };
    this.giveBack();
  }

  /** As if nothing had been shown before. */
  redraw(): void {
    this.painter.forget();
    this.refresh();
  }

  private refresh(): void {
    this.inline?.view.refresh();
    this.wholes.at(-1)?.view.refresh();
  }

  /** A frame that nobody reads is not drawn: the next one, when somebody does, shows how things are then. */
  private get isRead(): boolean {
    return !this.machine.pace.isFull();
  }

  /** Ink draws once more when the process ends: nothing may come after the terminal was given back. */
  private get isHeld(): boolean {
    return this.endings.length > 0;
  }

  /** A scene may stay open for a night: the oldest of what is said meanwhile is not kept for ever. */
  private forgetOldest(): void {
    const from = this.said.indexOf('\n', this.said.length - MOST_SAID / 2) + 1;
    this.said = `${LEFT_OUT}\n${this.said.slice(from)}`;
  }

  private open(scene: Scene, show: (frame: Frame) => void): OpenScene {
    const view = openInkView(() => scene.draw(this.size()), {
      size: this.size,
      onFrame: (lines) =>
        show({ lines: scene.fill?.(lines) ?? lines, cursor: scene.cursor?.(lines.length) }),
      onDefect: this.onDefect,
    });
    const forget = scene.shown.watch(() => view.refresh());
    const close = () => {
      forget();
      view.close();
    };
    return { scene, view, close };
  }

  private leave(opened: OpenScene): void {
    const at = this.wholes.indexOf(opened);
    if (at === -1) return;
    this.wholes.splice(at, 1);
    opened.close();
    const below = this.wholes.at(-1);
    if (below !== undefined) {
      this.painter.forget();
      below.view.refresh();
      return;
    }
    this.painter.leaveWhole();
    this.flush();
  }
}
