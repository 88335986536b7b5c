/**
 * Transcript pane: the transcript of the selected agent.
 *
 * It opens after a short delay and closes when another agent is selected.
 */

import type { OpenTranscript } from '../../../views/transcript/transcript-item.js';
import type { TerminalStyle } from '../../screen/terminal-style.js';
import type { SwarmDataSource } from '../swarm-data-source.js';
import { TranscriptWindow } from './transcript-window.js';

/** Delay before a transcript opens, so that scrolling through the table does not read every journal. */
const OPEN_DELAY_MS = 150;

export class TranscriptPane {
  private readonly source: Pick<SwarmDataSource, 'openTranscript'>;
  private readonly style: TerminalStyle;
  private readonly changed: () => void;
  private key: string | undefined;
  private opened: OpenTranscript | undefined;
  private opening: NodeJS.Timeout | undefined;
  private part: TranscriptWindow;
  private height = 1;

  /** `changed` is called when the transcript has changed. */
  constructor(
    source: Pick<SwarmDataSource, 'openTranscript'>,
    style: TerminalStyle,
    changed: () => void,
  ) {
    this.source = source;
    this.style = style;
    this.changed = changed;
    this.part = new TranscriptWindow(style);
  }

  /** Shows the transcript of an agent; undefined closes it. `isNow`: without delay. */
  show(agent: { readonly session: string; readonly id: string } | undefined, isNow = false): void {
    const key = agent === undefined ? undefined : `${agent.session} ${agent.id}`;
    if (key !== this.key) this.close();
    this.key = key;
    if (agent === undefined || this.opened !== undefined) return;
    const open = () => {
      clearTimeout(this.opening);
      this.opened = this.source.openTranscript(agent.session, agent.id);
      this.opened.watch(this.changed);
      this.changed();
    };
    if (isNow) open();
    else this.opening ??= setTimeout(open, OPEN_DELAY_MS);
  }

  close(): void {
    clearTimeout(this.opening);
    this.opened?.close();
    [this.opening, this.opened, this.key] = [undefined, undefined, undefined];
    this.part = new TranscriptWindow(this.style);
  }

  /** True if new lines scroll into view. */
  get isFollowing(): boolean {
    return this.part.isAtEnd;
  }

  window(width: number, height: number): readonly string[] {
    this.height = height;
    return this.opened === undefined ? [] : this.part.show(this.opened, width, height);
  }

  /** Scrolls down by `lines`; negative scrolls up. */
  move(lines: number): void {
    this.part.scroll(-lines);
  }

  page(pages: number): void {
    this.move(pages * Math.max(1, this.height - 2));
  }

  home(): void {
    this.part.toStart();
  }

  end(): void {
    this.part.toEnd();
  }
}
