/** Separates pasted from typed text by the markers of bracketed paste. */
import { MAX_DRAFT_LENGTH } from './line-editor.js';

const PASTE_BEGINS = '\u001b[200~';
const PASTE_ENDS = '\u001b[201~';
/** Silence after which the end marker of a paste counts as lost. */
const PASTE_TIMEOUT_MS = 5_000;
const CTRL_C = '\u0003';

/**
 * Takes linear time, however the text is split into chunks. A paste without an end marker ends after a silence
 * or at Ctrl-C, because otherwise no key would ever be reported again.
 */
export class PasteFilter {
  private readonly onTyped: (text: string) => void;
  private readonly onPasted: (text: string) => void;
  /** Text of the open paste; undefined if no paste is open. */
  private parts: string[] | undefined;
  private size = 0;
  /** End of the last chunk that may be the start of a marker. */
  private partialMarker = '';
  private silence: NodeJS.Timeout | undefined;
  /** Number of chunks received. */
  private chunks = 0;

  constructor(typed: (text: string) => void, pasted: (text: string) => void) {
    this.onTyped = typed;
    this.onPasted = pasted;
  }

  push(chunk: string): void {
    this.chunks += 1;
    if (chunk === CTRL_C) this.endPaste();
    this.split(chunk);
    clearTimeout(this.silence);
    if (this.parts !== undefined)
      this.silence = setTimeout(() => this.endPasteIfSilent(), PASTE_TIMEOUT_MS);
  }

  /** Drops the open paste. */
  close(): void {
    clearTimeout(this.silence);
    this.parts = undefined;
    this.partialMarker = '';
  }

  /**
   * Ends the paste unless a chunk is already waiting: after a long pause of the process, Node runs timers before
   * it reads input.
   */
  private endPasteIfSilent(): void {
    const { chunks } = this;
    setImmediate(() => {
      if (this.chunks === chunks) this.endPaste();
    });
  }

  private endPaste(): void {
    if (this.parts === undefined) return;
    // A partial end marker is not part of the text.
    this.partialMarker = '';
    this.toggle();
  }

  private split(chunk: string): void {
    let text = this.partialMarker + chunk;
    this.partialMarker = '';
    while (text !== '') {
      const mark = this.parts === undefined ? PASTE_BEGINS : PASTE_ENDS;
      const at = text.indexOf(mark);
      if (at === -1) {
        this.holdPartialMarker(text, mark);
        return;
      }
      this.emit(text.slice(0, at));
      text = text.slice(at + mark.length);
      this.toggle();
    }
  }

  /** Holds back a possible start of the marker. A single Esc is a key, so outside a paste it needs three characters. */
  private holdPartialMarker(text: string, mark: string): void {
    const shortest = this.parts === undefined ? 3 : 1;
    let half = Math.min(text.length, mark.length - 1);
    while (half >= shortest && !text.endsWith(mark.slice(0, half))) half--;
    if (half < shortest) half = 0;
    this.emit(text.slice(0, text.length - half));
    this.partialMarker = text.slice(text.length - half);
  }

  private emit(text: string): void {
    if (text === '') return;
    if (this.parts === undefined) this.onTyped(text);
    // One part more than fits is kept, so that the editor notices the overflow.
    else if (this.size <= MAX_DRAFT_LENGTH) {
      this.parts.push(text);
      this.size += text.length;
    }
  }

  private toggle(): void {
    if (this.parts === undefined) {
      this.parts = [];
      this.size = 0;
      return;
    }
    const text = this.parts.join('');
    this.parts = undefined;
    this.onPasted(text);
  }
}
