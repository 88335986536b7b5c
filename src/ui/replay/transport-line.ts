/** Transport line of a replay: play state, a bar with marks, and the time of the log. */

import { cutText, fitText } from '../../terminal/text/fit-text.js';
import { formatNumber } from '../../terminal/text/format-number.js';
import { formatAge, formatTime } from '../../terminal/text/format-time.js';
import { textWidth } from '../../terminal/text/text-width.js';
import type { ReplayMarkKind } from '../../views/replay/replay-log.js';
import type { TerminalStyle } from '../screen/terminal-style.js';
import type { ReplayClock } from './replay-clock.js';

const MIN_BAR_CELLS = 10;
const BAR_SHARE = 0.35;
/** Minimum width at which the last event is shown. */
const MIN_NEWS_WIDTH = 16;
const GAP = '  ';

export class TransportLine {
  private readonly clock: ReplayClock;
  private readonly style: TerminalStyle;
  private readonly news: () => string;
  /** Marks by cell, for a bar of `cells` cells. */
  private marks = { cells: 0, at: new Map<number, ReplayMarkKind>() };

  /** `news`: returns the last event as sanitized text. */
  constructor(clock: ReplayClock, style: TerminalStyle, news: () => string) {
    this.clock = clock;
    this.style = style;
    this.news = news;
  }

  /** Returns a line of at most `width` columns. Less important facts are dropped before the bar. */
  text(width: number): string {
    const { paint } = this.style;
    const state = cutText(this.playState().padEnd(8), width);
    let room = width - textWidth(state) - 1 - MIN_BAR_CELLS;
    const facts = this.facts().filter((fact) => {
      const isShown = fact.length + GAP.length <= room;
      room -= isShown ? fact.length + GAP.length : Math.max(0, room);
      return isShown;
    });
    const cells = Math.max(0, Math.min(Math.floor(width * BAR_SHARE), room + MIN_BAR_CELLS));
    const left = room + MIN_BAR_CELLS - cells - GAP.length;
    const tail = left < MIN_NEWS_WIDTH ? [] : [fitText(this.tail(), left, false)];
    const bar = this.bar(tail.length === 0 ? Math.max(0, room + MIN_BAR_CELLS) : cells);
    return `${paint.strong(state)} ${[bar, ...facts, ...tail].join(GAP)}`.trimEnd();
  }

  private playState(): string {
    const { clock, style } = this;
    const [forth, back, paused, times] = style.unicode
      ? ['▶', '◀', '‖', '×']
      : ['>', '<', '=', 'x'];
    const speed = clock.isFast ? 'fast' : `${clock.speed}${times}`;
    const sign = clock.isBackwards ? back : forth;
    if (clock.isPlaying) return `${sign} ${speed}`;
    return clock.isAtEnd
      ? `${paused} end`
      : `${paused} ${clock.isBackwards ? `${back} ` : ''}${speed}`;
  }

  /** Facts by importance, the most important first. */
  private facts(): readonly string[] {
    const { position, log, elapsed, duration } = this.clock;
    const happened = formatNumber(position).padStart(formatNumber(log.length).length);
    return [
      `${timeOf(elapsed)} of ${timeOf(duration)}`,
      `event ${happened} of ${formatNumber(log.length)}`,
    ];
  }

  private tail(): string {
    const { pause, isPlaying, now } = this.clock;
    if (isPlaying && pause !== undefined) {
      return `(${formatAge(pause.ms)} without news, cut to ${formatAge(pause.cutTo)})`;
    }
    return `${formatTime(now)}  ${this.news()}`;
  }

  private bar(cells: number): string {
    const { clock, style } = this;
    const [done, rest, head] = style.unicode ? ['━', '─', '●'] : ['=', '-', 'O'];
    const at = Math.round(clock.share * (cells - 1));
    const marks = this.marksOf(cells);
    const { paint } = style;
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

  /** Returns the mark of each cell. A failure hides a question in the same cell. */
  private marksOf(cells: number): ReadonlyMap<number, ReplayMarkKind> {
    if (this.marks.cells === cells) return this.marks.at;
    const at = new Map<number, ReplayMarkKind>();
    for (const mark of this.clock.log.marks) {
      const cell = Math.round(this.clock.shareOf(mark) * (cells - 1));
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
