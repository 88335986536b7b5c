/**
 * Screen: a terminal with a live part at its bottom, and full-screen scenes on top of it.
 *
 * Output goes to the scroll-back above the live part, once. While a full-screen scene is open, output waits. The
 * terminal is restored however the process ends.
 */
import type { ReactNode } from 'react';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { type InkView, openInkView } from './ink-view.js';
import type { Observable } from './observable.js';
import { type Cursor, Painter, type ScreenFrame, type Size } from './painter.js';

export interface Scene {
  /** Content that is drawn again after each notification. */
  readonly content: Observable;
  /** Returns lines of at most the terminal width; a full-screen scene fills all rows. */
  draw(size: Size): ReactNode;
  /** Fills the `RowSlots` of the drawn lines, for every frame. */
  fill?(lines: readonly string[]): readonly string[];
  /** Returns the text cursor in a frame of `height` lines; undefined hides it. */
  cursor?(height: number): Cursor | undefined;
}

type ScreenHost = Pick<
  TerminalHost,
  'stdout' | 'out' | 'backpressure' | 'onResize' | 'onContinue' | 'restoreAtExit'
>;

interface OpenScene {
  readonly scene: Scene;
  readonly view: InkView;
  readonly close: () => void;
}

/** Maximum characters of output that wait while a full-screen scene is open. */
const MAX_PENDING_OUTPUT = 2_000_000;
const DROPPED = '(Some output was dropped here; skein logs and the journal have it.)';

const MIN_SIZE: Size = { columns: 20, rows: 4 };

export class Screen {
  private readonly host: ScreenHost;
  private readonly painter: Painter;
  private readonly onDefect: (error: unknown) => void;
  private inline: OpenScene | undefined;
  private readonly fullScreenScenes: OpenScene[] = [];
  private frame: ScreenFrame = { lines: [] };
  private pendingOutput = '';
  private cleanups: (() => void)[] = [];

  constructor(host: ScreenHost, onDefect: (error: unknown) => void) {
    this.host = host;
    this.onDefect = onDefect;
    this.painter = new Painter(host.out, this.size);
    this.acquire();
  }

  readonly size = (): Size => {
    const { columns, rows } = this.host.stdout;
    return {
      columns: Math.max(MIN_SIZE.columns, columns || 80),
      rows: Math.max(MIN_SIZE.rows, rows || 24),
    };
  };

  showInline(scene: Scene): void {
    this.inline = this.open(scene, (frame) => {
      this.frame = frame;
      this.flush();
    });
  }

  /** Shows a full-screen scene on top. Returns a function that closes it. */
  showFullScreen(scene: Scene): () => void {
    const level = this.fullScreenScenes.length;
    const opened = this.open(scene, (frame) => {
      if (this.isActive && this.fullScreenScenes.length - 1 <= level && this.canWrite) {
        this.painter.paintFullScreen(frame);
      }
    });
    this.fullScreenScenes.push(opened);
    return () => this.leave(opened);
  }

  /** Adds whole lines to the scroll-back. They appear with the next frame or `flush`. */
  print(text: string): void {
    this.pendingOutput += text;
    if (this.pendingOutput.length > MAX_PENDING_OUTPUT) this.dropOldestOutput();
  }

  flush(): void {
    if (this.fullScreenScenes.length > 0 || !this.isActive || !this.canWrite) return;
    const { pendingOutput } = this;
    this.pendingOutput = '';
    this.painter.paintInline(this.frame, pendingOutput);
  }

  clear(): void {
    this.painter.clear();
    this.flush();
  }

  ring(): void {
    this.host.out('\u0007');
  }

  /** Restores the terminal, for a suspended process or at the end. */
  release(): void {
    for (const end of this.cleanups.splice(0)) end();
    this.painter.end();
    if (this.pendingOutput !== '') this.host.out(this.pendingOutput.replaceAll('\n', '\r\n'));
    this.pendingOutput = '';
  }

  /** Takes over the terminal, at the start and after `release`. Idempotent. */
  acquire(): void {
    if (this.isActive) return;
    const { backpressure } = this.host;
    this.cleanups = [
      backpressure.unblock(),
      backpressure.onRoom(() => this.refresh()),
      this.host.onResize(() => this.redraw()),
      this.host.onContinue(() => {
        this.painter.detach();
        this.redraw();
      }),
      this.host.restoreAtExit(() => this.release()),
    ];
    this.redraw();
  }

  close(): void {
    for (const { close } of [
      ...this.fullScreenScenes.splice(0),
      ...(this.inline ? [this.inline] : []),
    ]) {
      close();
    }
    this.inline = undefined;
    this.frame = { lines: [] };
    this.release();
  }

  /** Writes the current frame completely. */
  redraw(): void {
    this.painter.invalidate();
    this.refresh();
  }

  private refresh(): void {
    this.inline?.view.refresh();
    this.fullScreenScenes.at(-1)?.view.refresh();
  }

  /** False while the terminal does not read. Frames are skipped then, and the next frame shows the current state. */
  private get canWrite(): boolean {
    return !this.host.backpressure.isFull();
  }

  /** False after `release`. Ink draws once more when the process ends, and that frame must not be written. */
  private get isActive(): boolean {
    return this.cleanups.length > 0;
  }

  /** Drops the older half of the waiting output, because a scene may stay open for hours. */
  private dropOldestOutput(): void {
    const from =
      this.pendingOutput.indexOf('\n', this.pendingOutput.length - MAX_PENDING_OUTPUT / 2) + 1;
    this.pendingOutput = `${DROPPED}\n${this.pendingOutput.slice(from)}`;
  }

  private open(scene: Scene, show: (frame: ScreenFrame) => void): OpenScene {
    const view = openInkView(() => scene.draw(this.size()), {
      size: this.size,
      onFrame: (lines) =>
        show({ lines: scene.fill?.(lines) ?? lines, cursor: scene.cursor?.(lines.length) }),
      onDefect: this.onDefect,
    });
    const stopWatching = scene.content.watch(() => view.refresh());
    const close = () => {
      stopWatching();
      view.close();
    };
    return { scene, view, close };
  }

  private leave(opened: OpenScene): void {
    const at = this.fullScreenScenes.indexOf(opened);
    if (at === -1) return;
    this.fullScreenScenes.splice(at, 1);
    opened.close();
    const below = this.fullScreenScenes.at(-1);
    if (below !== undefined) {
      this.painter.invalidate();
      below.view.refresh();
      return;
    }
    this.painter.leaveFullScreen();
    this.flush();
  }
}
