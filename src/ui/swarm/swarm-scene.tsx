/**
 * Swarm scene: a tree of agents, the selected agent in detail, and keys to browse and to steer.
 *
 * The caller supplies the data source and the keys, and closes the scene.
 */
import type { ReactNode } from 'react';
import { formatAgent } from '../../terminal/format/format-agent.js';
import type { Key } from '../../terminal/input/line-editor.js';
import { keyName } from '../screen/key-name.js';
import type { Cursor, Size } from '../screen/painter.js';
import { fillRowSlots } from '../screen/row-slots.js';
import type { Scene } from '../screen/screen.js';
import type { TerminalStyle } from '../screen/terminal-style.js';
import { CommandPrompt, type SteeringTarget } from './command-prompt.js';
import { TranscriptPane } from './detail/transcript-pane.js';
import type { Hint } from './hint-line.js';
import { SearchLine } from './search-line.js';
import {
  actionForKey,
  keysOfHints,
  SWARM_HELP,
  type SwarmAction,
  withoutKeys,
} from './swarm-action.js';
import type { SwarmDataSource } from './swarm-data-source.js';
import { HelpFrame, SwarmFrame, TranscriptFrame } from './swarm-frame.js';
import { type SwarmLayout, swarmLayout } from './swarm-layout.js';
import { SwarmScreenLines } from './swarm-screen-lines.js';
import { SwarmTable } from './table/swarm-table.js';

export interface SwarmSceneOptions {
  readonly source: SwarmDataSource;
  readonly style: TerminalStyle;
  /** Title in the first line. */
  readonly title: string;
  leave(): void;
  /** Offers each key to the caller first. Returns true if the caller handled the key. */
  press?(key: Key): boolean;
  readonly hints?: readonly Hint[];
  /** Help for the caller's keys, shown before the scene's. */
  readonly help?: readonly Hint[];
  /** Returns an extra line above the footer. */
  line?(width: number): string;
}

const ARRANGING: Readonly<Partial<Record<SwarmAction, (table: SwarmTable) => void>>> = {
  fold: (table) => table.fold(),
  unfold: (table) => table.unfold(),
  toggle: (table) => table.toggle(),
  'toggle-all': (table) => table.toggleAll(),
  order: (table) => table.cycleOrder(),
  reverse: (table) => table.reverse(),
  filter: (table) => table.cycleFilter(),
};

type Scrolled = Pick<SwarmTable, 'move' | 'page' | 'home' | 'end'>;

const SCROLLING: Readonly<Partial<Record<SwarmAction, (view: Scrolled) => void>>> = {
  up: (view) => view.move(-1),
  down: (view) => view.move(1),
  'page-up': (view) => view.page(-1),
  'page-down': (view) => view.page(1),
  home: (view) => view.home(),
  end: (view) => view.end(),
};

type SceneMode = 'tree' | 'detail' | 'transcript' | 'help';

export class SwarmScene implements Scene {
  readonly content: SwarmTable;
  private readonly options: SwarmSceneOptions;
  private readonly prompt: CommandPrompt;
  private readonly search: SearchLine;
  private readonly transcript: TranscriptPane;
  private readonly lines: SwarmScreenLines;
  private mode: SceneMode = 'tree';
  /** Mode to return to from the help. */
  private modeBeforeHelp: SceneMode = 'tree';
  private wantsDetail: boolean | undefined;
  private layout: SwarmLayout | undefined;
  private drawn: { readonly key: string; readonly node: ReactNode } | undefined;
  private typedAt: Cursor | undefined;

  constructor(options: SwarmSceneOptions) {
    this.options = options;
    const { source, style } = options;
    this.content = new SwarmTable(source, () => this.close());
    const changed = () => this.content.notify();
    this.prompt = new CommandPrompt(source.steering, changed);
    this.search = new SearchLine(this.content);
    this.transcript = new TranscriptPane(source, style, changed);
    this.lines = new SwarmScreenLines(this.content, this.transcript, options);
  }

  /** Shows a sentence for a few seconds. */
  showNotice(sentence: string): void {
    this.prompt.showNotice(sentence);
  }

  draw(size: Size): ReactNode {
    const more = this.options.line === undefined ? 0 : 1;
    const layout = swarmLayout(size, this.wantsDetail, more);
    this.layout = layout;
    const key = [size.columns, size.rows, this.wantsDetail, this.mode].join();
    if (this.drawn?.key !== key) this.drawn = { key, node: this.frame(layout, 1 + more) };
    return this.drawn.node;
  }

  fill(lines: readonly string[]): readonly string[] {
    const { layout } = this;
    if (layout === undefined || this.mode === 'help') return lines;
    const { columns: width } = layout.size;
    // Update first, because the selected agent may have gone.
    this.content.update(false);
    this.followSelected(layout);
    const view = this.search.view(width) ?? this.prompt.view(width);
    const isOpen = this.mode === 'transcript';
    const textOf = isOpen
      ? this.lines.ofTranscript(layout, this.prompt.canSteer, view)
      : this.lines.ofTree(layout, this.mode === 'detail', this.prompt.canSteer, view);
    const filled = [...fillRowSlots(lines, textOf)];
    // The prompt covers the last lines, so that no other line moves.
    const prompt = view?.lines ?? [];
    const from = Math.max(0, filled.length - 1 - prompt.length);
    filled.splice(from, prompt.length, ...prompt.map((line) => this.lines.promptLine(line, width)));
    const { cursor } = view ?? {};
    this.typedAt = cursor && { row: from + cursor.row, column: cursor.column };
    return filled;
  }

  cursor(): Cursor | undefined {
    return this.mode === 'help' ? undefined : this.typedAt;
  }

  paste(text: string): void {
    this.search.paste(text);
    this.prompt.paste(text);
    this.content.notifyNow();
  }

  press(key: Key): void {
    if (this.mode === 'help') this.mode = this.modeBeforeHelp;
    else if (this.search.isTyping) this.search.press(key);
    else if (this.prompt.isAsking) this.prompt.press(key);
    else if (this.options.press?.(key) !== true) this.act(actionForKey(keyName(key)));
    this.content.notifyNow();
  }

  private act(action: SwarmAction | undefined): void {
    switch (action) {
      case 'message':
      case 'stop':
      case 'resume':
        this.steer(action);
        break;
      case 'open':
        if (this.content.selected !== undefined) this.mode = 'transcript';
        break;
      case 'help':
        [this.modeBeforeHelp, this.mode] = [this.mode, 'help'];
        break;
      case 'back':
      case 'leave':
        this.leave(action);
        break;
      case undefined:
        break;
      default:
        if (action in SCROLLING) this.scroll(action);
        else if (this.mode !== 'transcript') this.arrange(action);
    }
  }

  private arrange(action: SwarmAction): void {
    const { content } = this;
    switch (action) {
      case 'detail':
        this.wantsDetail = this.layout?.detail === undefined;
        this.mode = 'tree';
        break;
      case 'focus':
        // Shows a hidden detail, and moves the focus.
        if (this.layout?.detail === undefined) this.wantsDetail = true;
        this.mode = this.mode === 'detail' ? 'tree' : 'detail';
        break;
      case 'search':
        this.search.begin();
        break;
      default:
        ARRANGING[action]?.(content);
    }
  }

  private scroll(action: SwarmAction): void {
    const view = this.mode === 'tree' ? this.content : this.transcript;
    SCROLLING[action]?.(view);
  }

  private steer(action: 'message' | 'stop' | 'resume'): void {
    const to = this.steered();
    if (to === undefined) return;
    if (action === 'message') this.prompt.write(to);
    else if (action === 'stop') this.prompt.askToStop(to);
    else this.prompt.resume(to);
  }

  private steered(): SteeringTarget | undefined {
    const { selected } = this.content;
    if (selected === undefined) return undefined;
    const { swarm, agent, shortId } = selected;
    const below = new Set([agent.id]);
    // Agents are listed behind their parents, so one pass finds all descendants.
    for (const { id, parent } of swarm.agents) if (below.has(parent ?? '')) below.add(id);
    const called = formatAgent(agent, shortId);
    return { session: swarm.session.id, id: agent.id, called, below: below.size - 1 };
  }

  /** Handles Esc and `q`. Esc undoes one step at a time; `q` leaves the scene, or a transcript to the tree. */
  private leave(action: 'back' | 'leave'): void {
    const { filter, text } = this.content.sortAndFilter;
    if (this.mode === 'transcript') this.mode = 'tree';
    else if (action === 'leave') this.options.leave();
    else if (this.mode === 'detail') this.mode = 'tree';
    else if (filter !== 'all' || text !== '') this.content.showAll();
    else this.options.leave();
  }

  /** Opens the transcript of the selected agent while it is visible. */
  private followSelected({ detail }: SwarmLayout): void {
    const isOpen = this.mode === 'transcript';
    const { selected } = this.content;
    const isShown = (isOpen || detail !== undefined) && selected !== undefined;
    const agent = isShown
      ? { session: selected.swarm.session.id, id: selected.agent.id }
      : undefined;
    this.transcript.show(agent, isOpen);
  }

  private close(): void {
    this.prompt.close();
    this.transcript.close();
  }

  /** Returns the help of the caller's keys and of the scene's remaining keys. */
  private help(): readonly Hint[] {
    const others = this.options.help ?? [];
    const taken = keysOfHints(others);
    const own = SWARM_HELP.filter(({ isSteering }) => this.prompt.canSteer || isSteering !== true);
    return [...others, ...own.flatMap((line) => withoutKeys(line, taken))];
  }

  private frame(layout: SwarmLayout, below: number): ReactNode {
    const { size } = layout;
    const { style } = this.options;
    switch (this.mode) {
      case 'help':
        return <HelpFrame size={size} style={style} lines={this.help()} />;
      case 'transcript':
        return <TranscriptFrame size={size} below={below} />;
      default:
        return <SwarmFrame layout={layout} below={below} />;
    }
  }
}
