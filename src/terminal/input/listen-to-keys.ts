/** Listens to keys and pastes of a terminal in raw mode, and restores the terminal. */
import { EventEmitter } from 'node:events';
import { emitKeypressEvents, type Interface } from 'node:readline';
import type { TerminalHost } from '../terminal-host.js';
import type { Key } from './line-editor.js';
import { PasteFilter } from './paste-filter.js';

const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';
/** Time after which an Esc is a key and not the start of an escape sequence. */
const ESCAPE_MS = 50;

export interface KeyListener {
  key(key: Key): void;
  paste(text: string): void;
  /** The terminal is closed. */
  end(): void;
}

/** Puts the terminal into raw mode and reports keys. Returns an idempotent function that restores the terminal. */
export const listenToKeys = (
  {
    stdin,
    out,
    restoreAtExit,
    onContinue,
  }: Pick<TerminalHost, 'stdin' | 'out' | 'restoreAtExit' | 'onContinue'>,
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
  const onData = (chunk: Buffer) => pastes.push(decoder.decode(chunk, { stream: true }));
  const onEnd = () => listener.end();
  stdin.setRawMode?.(true);
  out(PASTE_ON);
  stdin.on('data', onData);
  stdin.on('end', onEnd);
  stdin.on('error', onEnd);
  // An error of the terminal after `close` must not crash the process. One such listener is enough.
  if (!stdin.listeners('error').includes(ignore)) stdin.on('error', ignore);
  stdin.resume();
  // The shell changed the mode while the process was stopped. Node skips a mode that it believes is set, so switch twice.
  const stopWatching = onContinue(() => {
    stdin.setRawMode?.(false);
    stdin.setRawMode?.(true);
    out(PASTE_ON);
  });
  let isOpen = true;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    unregister();
    stopWatching();
    pastes.close();
    stdin.off('data', onData);
    stdin.off('end', onEnd);
    stdin.off('error', onEnd);
    out(PASTE_OFF);
    try {
      stdin.setRawMode?.(false);
    } catch {
      // The terminal is closed already.
    }
    stdin.pause();
  };
  const unregister = restoreAtExit(close);
  return close;
};

const ignore = () => {};
