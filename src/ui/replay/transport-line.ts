/** One line that says where a tape is: how it plays, a bar with marks, and the time of the log. */

import { count } from '../../terminal/text/format-numbers.js';
import { clockTime, shortAge } from '../../terminal/text/format-time.js';
import { cut, fitted } from '../../terminal/text/text-fit.js';
import { textWidth } from '../../terminal/text/text-width.js';
import type { MarkKind } from '../../views/replay/replay-log.js';
import type { Look } from '../screen/terminal-style.js';
import type { ReplayClock } from './replay-clock.js';

const LEAST_BAR = 10;
const BAR_SHARE = 0.35;
/** Less than that says nothing. */
const LEAST_NEWS = 16;
const GAP = '  ';

export class TransportLine {
  private readonly tape: ReplayClock;
  private readonly look: Look;
  private readonly news: () => string;
  /** By cell, for a bar of so many. */
  private marks = { cells: 0, at: new Map<number, MarkKind>() };

  /** `news`: what happened last, in words that are harmless. */
  constructor(tape: ReplayClock, look: Look, news: () => string) {
    this.tape = tape;
    this.look = look;
    this.news = news;
  }

  /** As wide as that. What matters less gives way to the bar. */
  text(width: number): string {
    const { paint } = this.look;
    const how = cut(this.howItPlays().padEnd(8), width);
    let room = width - textWidth(how) - 1 - LEAST_BAR;
    const facts = this.facts().filter((fact) => {
      const isShown = fact.length + GAP.length <= room;
      room -= isShown ? fact.length + GAP.length : Math.max(0, room);
      return isShown;
    });
    const cells = Math.max(0, Math.min(Math.floor(width * BAR_SHARE), room + LEAST_BAR));
    const left = room + LEAST_BAR - cells - GAP.length;
    const tail = left < LEAST_NEWS ? [] : [fitted(this.tail(), left, false)];
    const bar = this.bar(tail.length === 0 ? Math.max(0, room + LEAST_BAR) : cells);
    return `${paint.strong(how)} ${[bar, ...facts, ...tail].join(GAP)}`.trimEnd();
  }

  private howItPlays(): string {
    const { tape, look } = this;
    const [forth, back, rests, times] = look.unicode ? ['▶', '◀', '‖', '×'] : ['>', '<', '=', 'x'];
    const speed = tape.isFast ? 'fast' : `${tape.speed}${times}`;
    const sign = tape.isBackwards ? back : forth;
    if (tape.isPlaying) return `${sign} ${speed}`;
    return tape.isAtEnd ? `${rests} end` : `${rests} ${tape.isBackwards ? `${back} ` : ''}${speed}`;
  }

  /** What matters most first. */
  private facts(): readonly string[] {
    const { position, log, elapsed, duration } = this.tape;
    const happened = count(position).padStart(count(log.length).length);
    return [
      `${timeOf(elapsed)} of ${timeOf(duration)}`,
      `event ${happened} of ${count(log.length)}`,
    ];
  }

  private tail(): string {
    const { pause, isPlaying, now } = this.tape;
    if (isPlaying && pause !== undefined) {
      return `(${shortAge(pause.ms)} without news, cut to ${shortAge(pause.cutTo)})`;
    }
    return `${clockTime(now)}  ${this.news()}`;
  }

  private bar(cells: number): string {
    const { tape, look } = this;
    const [done, rest, head] = look.unicode ? ['━', '─', '●'] : ['=', '-', 'O'];
    const at = Math.round(tape.share * (cells - 1));
    const marks = this.marksOf(cells);
    const { paint } = look;
    const parts: { text: string; tint: (text: string) => string }[] = [];
    const put = (text: string, tint: (text: string) => string) => {
      const last = parts.at(-1);
      if (last?.tint === tint) last.text += text;
      else parts.push({ text, tint });
    };
    for (let cell = 0; cell < cells; cell += 1) {
      const mark = marks.get(cell);
      if (cell === at) put(head, paint.accent);
      else if (mark === 'failure') put('!', paint.alarm);
      else if (mark === 'question') put('?', paint.warn);
      else if (cell < at) put(done, paint.accent);
      else put(rest, paint.dim);
    }
    return parts.map(({ text, tint }) => tint(text)).join('');
  }

  /** Of two in one cell the graver one is shown. */
  private marksOf(cells: number): ReadonlyMap<number, MarkKind> {
    if (this.marks.cells === cells) return this.marks.at;
    const at = new Map<number, MarkKind>();
    for (const mark of this.tape.log.marks) {
      const cell = Math.round(this.tape.shareOf(mark) * (cells - 1));
      if (mark.kind !== 'end' && at.get(cell) !== 'failure') at.set(cell, mark.kind);
    }
    this.marks = { cells, at };
    return at;
  }
}

/** `2:13`, `1:02:13`. */
const timeOf = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const two = (value: number) => String(value).padStart(2, '0');
  const [minutes, hours] = [Math.floor(seconds / 60) % 60, Math.floor(seconds / 3_600)];
  return hours > 0
    ? `${hours}:${two(minutes)}:${two(seconds % 60)}`
    : `${minutes}:${two(seconds % 60)}`;
};
