/** A terminal's keys, one by one: raw mode, bracketed paste, and both undone on every way out. */
import { EventEmitter } from 'node:events';
import { emitKeypressEvents, type Interface } from 'node:readline';
import type { TerminalHost } from '../terminal-host.js';
import { type Key, LONGEST_DRAFT } from './line-editor.js';

const PASTE_BEGINS = '\u001b[200~';
const PASTE_ENDS = '\u001b[201~';
const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';
/** How long an Esc waits for the rest of a sequence. */
const ESCAPE_MS = 50;
/** How long a paste may be silent before its end is taken for lost. */
const PASTE_MS = 5_000;
const CTRL_C = '\u0003';

export interface KeyListener {
  key(key: Key): void;
  paste(text: string): void;
  /** The terminal is gone. */
  end(): void;
}

/** The returned function gives the terminal back. */
export const listenToKeys = (
  { stdin, out, lend, onContinue }: Pick<TerminalHost, 'stdin' | 'out' | 'lend' | 'onContinue'>,
  listener: KeyListener,
): (() => void) => {
  const keys = new EventEmitter() as EventEmitter & NodeJS.ReadableStream;
  emitKeypressEvents(keys, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
  keys.on('keypress', (_: unknown, key: Key) => listener.key(key));
  const pastes = new PasteFilter(
    (text) => keys.emit('data', Buffer.from(text)),
    (text) => listener.paste(text),
  );
  const decoder = new TextDecoder();
  const onData = (chunk: Buffer) => pastes.take(decoder.decode(chunk, { stream: true }));
  const onEnd = () => listener.end();
  stdin.setRawMode?.(true);
  out(PASTE_ON);
  stdin.on('data', onData);
  stdin.on('end', onEnd);
  stdin.on('error', onEnd);
  // A terminal that breaks when nobody listens any more is no reason to crash; one listener is enough for that.
  if (!stdin.listeners('error').includes(ignore)) stdin.on('error', ignore);
  stdin.resume();
  // The shell has given the terminal a mode of its own meanwhile; setting the same one again does nothing.
  const forget = onContinue(() => {
    stdin.setRawMode?.(false);
    stdin.setRawMode?.(true);
    out(PASTE_ON);
  });
  let isOpen = true;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    keep();
    forget();
    pastes.close();
    stdin.off('data', onData);
    stdin.off('end', onEnd);
    stdin.off('error', onEnd);
    out(PASTE_OFF);
    try {
      stdin.setRawMode?.(false);
    } catch {
      // A terminal that has been closed has no mode to give back.
    }
    stdin.pause();
  };
  const keep = lend(close);
  return close;
};

const ignore = () => {};

/**
 * Parts what was pasted from what was typed. Time grows with the text alone, however it is cut. A paste
 * whose end never comes is over after a silence, or at a Ctrl-C: otherwise no key would be heard again.
 */
export class PasteFilter {
  private readonly typed: (text: string) => void;
  private readonly pasted: (text: string) => void;
  /** Undefined while nothing is being pasted. */
  private parts: string[] | undefined;
  private size = 0;
  /** What may be the beginning of a mark. */
  private rest = '';
  private silence: NodeJS.Timeout | undefined;
  /** How many chunks there were. */
  private taken = 0;

  constructor(typed: (text: string) => void, pasted: (text: string) => void) {
    this.typed = typed;
    this.pasted = pasted;
  }

  take(chunk: string): void {
    this.taken += 1;
    if (chunk === CTRL_C) this.giveUp();
    this.part(chunk);
    clearTimeout(this.silence);
    if (this.parts !== undefined) this.silence = setTimeout(() => this.awaitMore(), PASTE_MS);
  }

  /** What is being pasted is not told any more. */
  close(): void {
    clearTimeout(this.silence);
    this.parts = undefined;
    this.rest = '';
  }

  /** After a long pause of the process timers come before what waits to be read: that comes first here. */
  private awaitMore(): void {
    const { taken } = this;
    setImmediate(() => {
      if (this.taken === taken) this.giveUp();
    });
  }

  private giveUp(): void {
    if (this.parts === undefined) return;
    // Half of an end is no text.
    this.rest = '';
    this.turn();
  }

  private part(chunk: string): void {
    let text = this.rest + chunk;
    this.rest = '';
    while (text !== '') {
      const mark = this.parts === undefined ? PASTE_BEGINS : PASTE_ENDS;
      const at = text.indexOf(mark);
      if (at === -1) {
        this.keepHalf(text, mark);
        return;
      }
      this.put(text.slice(0, at));
      text = text.slice(at + mark.length);
      this.turn();
    }
  }

  /** An Esc by itself is a key; a longer beginning of a mark waits for its end. */
  private keepHalf(text: string, mark: string): void {
    const shortest = this.parts === undefined ? 3 : 1;
    let half = Math.min(text.length, mark.length - 1);
    while (half >= shortest && !text.endsWith(mark.slice(0, half))) half--;
    if (half < shortest) half = 0;
    this.put(text.slice(0, text.length - half));
    this.rest = text.slice(text.length - half);
  }

  private put(text: string): void {
    if (text === '') return;
    if (this.parts === undefined) this.typed(text);
    // One more than fits, so that whoever takes it knows.
    else if (this.size <= LONGEST_DRAFT) {
      this.parts.push(text);
      this.size += text.length;
    }
  }

  private turn(): void {
    if (this.parts === undefined) {
      this.parts = [];
      this.size = 0;
      return;
    }
    const text = this.parts.join('');
    this.parts = undefined;
    this.pasted(text);
  }
}
