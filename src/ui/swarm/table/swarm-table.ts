/**
 * Swarm table: the agents of all swarms, sorted, filtered, folded and scrolled, with a selection.
 *
 * The selection is an agent and not a row, so it survives rearrangements.
 */
import type { AgentView, SwarmView } from '../../../views/swarm/swarm-view.js';
import { Observable } from '../../screen/observable.js';
import type { SwarmDataSource } from '../swarm-data-source.js';
import {
  AGENT_FILTERS,
  type ArrangedRow,
  agentKey,
  SORT_ORDERS,
  type SortAndFilter,
} from './sort-and-filter.js';
import { StableOrder } from './stable-order.js';

export interface SwarmTableRow extends ArrangedRow {
  readonly swarm: SwarmView;
  /** Undefined for the head of a swarm. */
  readonly view: AgentView | undefined;
  /** Shortest unique prefix of the id. */
  readonly shortId: string;
  /** Folded descendants. */
  readonly hidden: readonly AgentView[];
  readonly isSelected: boolean;
}

export interface SelectedAgent {
  readonly swarm: SwarmView;
  readonly agent: AgentView;
  /** Shortest unique prefix of the id. */
  readonly shortId: string;
}

/** Redraw interval, because shown ages grow without events. */
const TICK_MS = 1_000;

export class SwarmTable extends Observable {
  private readonly source: SwarmDataSource;
  private readonly order: StableOrder;
  /** Last selected agent, even while it is hidden. */
  private chosen: { readonly session: string; readonly agent: string } | undefined;
  /** Last row of the selected agent, for the time after it has gone. */
  private lastAt = 0;
  private top = 0;
  private height = 1;
  private readonly onClosed: () => void;
  private stopWatching: (() => void) | undefined;
  private ticking: NodeJS.Timeout | undefined;

  /** `onClosed` is called after the last listener is removed. `time`: clock of the row order. */
  constructor(
    source: SwarmDataSource,
    closed: () => void = () => {},
    time: () => number = () => performance.now(),
  ) {
    super();
    this.source = source;
    this.onClosed = closed;
    this.order = new StableOrder(time, () => {
      this.update(true);
      this.notify();
    });
  }

  protected override watchStarted(): void {
    this.stopWatching = this.source.watch(() => this.notify());
    this.ticking = setInterval(() => this.notify(), TICK_MS);
    this.update(true);
  }

  protected override watchEnded(): void {
    this.stopWatching?.();
    clearInterval(this.ticking);
    this.order.close();
    this.onClosed();
  }

  get sortAndFilter(): SortAndFilter {
    return this.order.sortAndFilter;
  }

  /** All swarms, regardless of the filter. */
  get swarms(): readonly SwarmView[] {
    return this.order.swarms;
  }

  /** Number of agents in the rows, folded agents included, and of all agents. */
  get count(): { readonly shown: number; readonly all: number } {
    const shown = this.order.rows.reduce(
      (sum, { agent, below }) => sum + (agent === undefined ? 0 : 1 + below.length),
      0,
    );
    return { shown, all: this.order.agents.size };
  }

  get selected(): SelectedAgent | undefined {
    this.update(false);
    const { agent, session = '', key = '' } = this.rowAt(this.selectedAt()) ?? {};
    const swarm = this.swarmOf(session);
    const view = agent === undefined ? undefined : this.order.agents.get(key);
    if (swarm === undefined || view === undefined) return undefined;
    return { swarm, agent: view, shortId: this.order.shortId(session, view.id) };
  }

  /** Selects an agent. A hidden agent becomes selected when it is shown again. */
  select(session: string, agent: string): void {
    this.chosen = { session, agent };
    this.notifyNow();
  }

  /** Takes new data, scrolls to the selection, and returns `height` rows. */
  window(height: number): readonly SwarmTableRow[] {
    this.height = Math.max(1, height);
    this.update(false);
    const at = this.selectedAt();
    this.scrollTo(at);
    return this.order.rows.slice(this.top, this.top + this.height).flatMap((row, index) => {
      const swarm = this.swarmOf(row.session);
      if (swarm === undefined) return [];
      const { agents } = this.order;
      const hidden = row.below.flatMap((id) => agents.get(agentKey(row.session, id)) ?? []);
      const isSelected = this.top + index === at && row.agent !== undefined;
      const shortId = this.order.shortId(row.session, row.agent ?? '');
      return [{ ...row, swarm, view: agents.get(row.key), shortId, hidden, isSelected }];
    });
  }

  /** First and last row of the window, counted from 1, and the number of rows. */
  get part(): { readonly from: number; readonly to: number; readonly of: number } {
    const { length } = this.order.rows;
    return {
      from: Math.min(length, this.top + 1),
      to: Math.min(length, this.top + this.height),
      of: length,
    };
  }

  move(lines: number): void {
    const step = Math.sign(lines);
    let at = this.selectedAt();
    let left = Math.abs(lines);
    for (let next = at + step; left > 0 && this.rowAt(next) !== undefined; next += step) {
      if (this.rowAt(next)?.agent === undefined) continue;
      at = next;
      left -= 1;
    }
    this.choose(this.rowAt(at));
  }

  page(pages: number): void {
    this.move(pages * Math.max(1, this.height - 1));
  }

  home(): void {
    this.move(-this.order.rows.length);
  }

  end(): void {
    this.move(this.order.rows.length);
  }

  /** Folds the selected agent. Without open children it selects the parent instead. */
  fold(): void {
    const row = this.rowAt(this.selectedAt());
    if (row?.agent === undefined) return;
    if (row.isParent && row.below.length === 0) {
      this.setSortAndFilter({ folded: new Set([...this.sortAndFilter.folded, row.key]) });
      return;
    }
    const { parent } = this.order.agents.get(row.key) ?? {};
    if (typeof parent === 'string') this.select(row.session, parent);
  }

  /** Unfolds the selected agent. If it is unfolded, it selects the first child instead. */
  unfold(): void {
    const at = this.selectedAt();
    const row = this.rowAt(at);
    if (row === undefined) return;
    if (row.below.length > 0) {
      this.setSortAndFilter({
        folded: new Set([...this.sortAndFilter.folded].filter((key) => key !== row.key)),
      });
    } else if (row.isParent) this.choose(this.rowAt(at + 1));
  }

  toggle(): void {
    const row = this.rowAt(this.selectedAt());
    if (row !== undefined && row.below.length > 0) this.unfold();
    else if (row?.isParent === true) this.fold();
  }

  /** Unfolds all agents if any is folded, else folds all parents except the leads. */
  toggleAll(): void {
    const parents = this.swarms.flatMap(({ session, agents }) =>
      agents.flatMap(({ parent }) =>
        parent === null || parent === session.lead ? [] : [agentKey(session.id, parent)],
      ),
    );
    this.setSortAndFilter({ folded: new Set(this.sortAndFilter.folded.size > 0 ? [] : parents) });
  }

  cycleOrder(): void {
    this.setSortAndFilter({
      order: after(SORT_ORDERS, this.sortAndFilter.order),
      isReversed: false,
    });
  }

  reverse(): void {
    this.setSortAndFilter({ isReversed: !this.sortAndFilter.isReversed });
  }

  cycleFilter(): void {
    this.setSortAndFilter({ filter: after(AGENT_FILTERS, this.sortAndFilter.filter) });
  }

  search(text: string): void {
    this.setSortAndFilter({ text });
  }

  /** Selects the first match unless a match is selected. */
  selectFound(): void {
    const { rows } = this.order;
    const isFound = (row: ArrangedRow | undefined) => row?.agent !== undefined && !row.isContext;
    if (!isFound(this.rowAt(this.selectedAt()))) this.choose(rows.find(isFound));
  }

  showAll(): void {
    this.setSortAndFilter({ filter: 'all', text: '' });
  }

  private choose(row: ArrangedRow | undefined): void {
    if (row?.agent !== undefined) this.select(row.session, row.agent);
  }

  private setSortAndFilter(sortAndFilter: Partial<SortAndFilter>): void {
    this.order.sortAndFilter = { ...this.sortAndFilter, ...sortAndFilter };
    this.update(true);
    this.notifyNow();
  }

  /** Takes new data from the source. The selected row keeps its position on the screen if possible. */
  update(isRequested: boolean): void {
    this.order.update(this.source.swarms(), isRequested, (rearrange) => {
      const row = this.selectedAt() - this.top;
      rearrange();
      const at = this.selectedAt();
      this.top = Math.max(0, at - row);
      const { agent, session = '' } = this.rowAt(at) ?? {};
      if (agent !== undefined) this.chosen ??= { session, agent };
    });
  }

  private scrollTo(at: number): void {
    const last = Math.max(0, this.order.rows.length - this.height);
    const lowest = Math.max(0, at - this.height + 1);
    // The head row of a swarm stays visible with its first agent.
    const isBelowLine = at > 0 && this.rowAt(at - 1)?.agent === undefined;
    const highest = isBelowLine && this.height > 1 ? at - 1 : at;
    this.top = Math.min(last, Math.max(lowest, Math.min(highest, this.top)));
  }

  /** Returns the row of the selected agent, else of its nearest visible ancestor, else the row at the last position. */
  private selectedAt(): number {
    const { session = '', agent = '' } = this.chosen ?? {};
    const at = this.find(agentKey(session, agent));
    if (at !== -1) {
      this.lastAt = at;
      return at;
    }
    const { agents, rows } = this.order;
    let above = agents.get(agentKey(session, agent))?.parent ?? null;
    for (let step = 0; above !== null && step < agents.size; step += 1) {
      const shown = this.find(agentKey(session, above));
      if (shown !== -1) return shown;
      above = agents.get(agentKey(session, above))?.parent ?? null;
    }
    const last = Math.min(this.lastAt, rows.length - 1);
    const isAgent = (row: number) => this.rowAt(row)?.agent !== undefined;
    const nearest = [last, last + 1, last - 1].find(isAgent);
    return (
      nearest ??
      Math.max(
        0,
        rows.findIndex((row) => row.agent !== undefined),
      )
    );
  }

  private find(key: string): number {
    if (this.rowAt(this.lastAt)?.key === key) return this.lastAt;
    return this.order.rows.findIndex((row) => row.key === key);
  }

  private rowAt(at: number): ArrangedRow | undefined {
    return this.order.rows[at];
  }

  private swarmOf(session: string): SwarmView | undefined {
    return this.swarms.find((swarm) => swarm.session.id === session);
  }
}

const after = <Value>(values: readonly Value[], value: Value): Value =>
  values[(values.indexOf(value) + 1) % values.length] ?? value;
