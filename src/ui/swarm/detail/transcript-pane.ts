/**
 * The transcript of the agent that somebody looks at: opened when they stay with it for a moment, and let go
 * of when they look elsewhere.
 */
import type { Look } from '../../screen/terminal-style.js';
import type { OpenTranscript, SwarmSource } from '../swarm-source.js';
import { TranscriptWindow } from './transcript-window.js';

/** Who runs through a list does not want to read a journal for each line. */
const STAYS_MS = 150;

export class TranscriptPane {
  private readonly source: Pick<SwarmSource, 'openTranscript'>;
  private readonly look: Look;
  private readonly changed: () => void;
  private key: string | undefined;
  private opened: OpenTranscript | undefined;
  private opening: NodeJS.Timeout | undefined;
  private part: TranscriptWindow;
  private height = 1;

  /** `changed` is told when there is more to see. */
  constructor(source: Pick<SwarmSource, 'openTranscript'>, look: Look, changed: () => void) {
    this.source = source;
    this.look = look;
    this.changed = changed;
    this.part = new TranscriptWindow(look);
  }

  /** Undefined: nobody's. `isNow`: somebody has asked for it. */
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
    else this.opening ??= setTimeout(open, STAYS_MS);
  }

  close(): void {
    clearTimeout(this.opening);
    this.opened?.close();
    [this.opening, this.opened, this.key] = [undefined, undefined, undefined];
    this.part = new TranscriptWindow(this.look);
  }

  /** What comes next is shown. */
  get isFollowing(): boolean {
    return this.part.isAtEnd;
  }

  window(width: number, height: number): readonly string[] {
    this.height = height;
    return this.opened === undefined ? [] : this.part.show(this.opened, width, height);
  }

  /** Down with more than nothing. */
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
