/**
 * The agents of one or several swarms as somebody looks at them: sorted, filtered, folded, scrolled, and
 * one of them selected. The selection is of an agent and not of a line: whatever moves, it stays.
 */
import type { AgentView, SwarmView } from '../../../views/swarm/swarm-view.js';
import { Observable } from '../../screen/observable.js';
import type { SwarmSource } from '../swarm-source.js';
import { FILTERS, keyOf, ORDERS, type Place, type Wish } from './agent-sort.js';
import { StableOrder } from './stable-order.js';

export interface BoardRow extends Place {
  readonly swarm: SwarmView;
  /** Undefined for the line of a swarm. */
  readonly view: AgentView | undefined;
  /** As much of its id as tells it apart. */
  readonly shortId: string;
  /** Those that are folded away below it. */
  readonly hidden: readonly AgentView[];
  readonly isSelected: boolean;
}

export interface Selected {
  readonly swarm: SwarmView;
  readonly agent: AgentView;
  /** As much of its id as tells it apart. */
  readonly shortId: string;
}

/** Ages grow also when nothing happens. */
const TICK_MS = 1_000;

export class SwarmTable extends Observable {
  private readonly source: SwarmSource;
  private readonly lines: StableOrder;
  /** The agent that was last chosen, also while it is not shown. */
  private chosen: { readonly session: string; readonly agent: string } | undefined;
  /** Where it stood, for when it is gone. */
  private lastAt = 0;
  private top = 0;
  private height = 1;
  private readonly closed: () => void;
  private forget: (() => void) | undefined;
  private ticking: NodeJS.Timeout | undefined;

  /** `closed` is told when nobody looks any more; `time` is what calm is measured by. */
  constructor(
    source: SwarmSource,
    closed: () => void = () => {},
    time: () => number = () => performance.now(),
  ) {
    super();
    this.source = source;
    this.closed = closed;
    this.lines = new StableOrder(time, () => {
      this.look(true);
      this.changed();
    });
  }

  protected override watchBegan(): void {
    this.forget = this.source.watch(() => this.changed());
    this.ticking = setInterval(() => this.changed(), TICK_MS);
    this.look(true);
  }

  protected override watchEnded(): void {
    this.forget?.();
    clearInterval(this.ticking);
    this.lines.close();
    this.closed();
  }

  get wish(): Wish {
    return this.lines.wish;
  }

  /** All of them, whatever is shown. */
  get swarms(): readonly SwarmView[] {
    return this.lines.swarms;
  }

  /** How many agents the lines stand for, of how many. */
  get count(): { readonly shown: number; readonly all: number } {
    const shown = this.lines.places.reduce(
      (sum, { agent, below }) => sum + (agent === undefined ? 0 : 1 + below.length),
      0,
    );
    return { shown, all: this.lines.agents.size };
  }

  get selected(): Selected | undefined {
    this.look(false);
    const { agent, session = '', key = '' } = this.placeAt(this.selectedAt()) ?? {};
    const swarm = this.swarmOf(session);
    const view = agent === undefined ? undefined : this.lines.agents.get(key);
    if (swarm === undefined || view === undefined) return undefined;
    return { swarm, agent: view, shortId: this.lines.shortId(session, view.id) };
  }

  /** Also one that is not shown: it is once it is. */
  select(session: string, agent: string): void {
    this.chosen = { session, agent };
    this.changedNow();
  }

  /** The lines of a window of so many, around the selected one. What is new is looked at first. */
  window(height: number): readonly BoardRow[] {
    this.height = Math.max(1, height);
    this.look(false);
    const at = this.selectedAt();
    this.scrollTo(at);
    return this.lines.places.slice(this.top, this.top + this.height).flatMap((place, row) => {
      const swarm = this.swarmOf(place.session);
      if (swarm === undefined) return [];
      const { agents } = this.lines;
      const hidden = place.below.flatMap((id) => agents.get(keyOf(place.session, id)) ?? []);
      const isSelected = this.top + row === at && place.agent !== undefined;
      const shortId = this.lines.shortId(place.session, place.agent ?? '');
      return [{ ...place, swarm, view: agents.get(place.key), shortId, hidden, isSelected }];
    });
  }

  /** Which lines the window has, of how many; counted from 1. */
  get part(): { readonly from: number; readonly to: number; readonly of: number } {
    const { length: of } = this.lines.places;
    return { from: Math.min(of, this.top + 1), to: Math.min(of, this.top + this.height), of };
  }

  move(lines: number): void {
    const step = Math.sign(lines);
    let at = this.selectedAt();
    let left = Math.abs(lines);
    for (let next = at + step; left > 0 && this.placeAt(next) !== undefined; next += step) {
      if (this.placeAt(next)?.agent === undefined) continue;
      at = next;
      left -= 1;
    }
    this.choose(this.placeAt(at));
  }

  page(pages: number): void {
    this.move(pages * Math.max(1, this.height - 1));
  }

  home(): void {
    this.move(-this.lines.places.length);
  }

  end(): void {
    this.move(this.lines.places.length);
  }

  /** The selected one, or where nobody works for it, whom it works for. */
  fold(): void {
    const place = this.placeAt(this.selectedAt());
    if (place?.agent === undefined) return;
    if (place.isParent && place.below.length === 0) {
      this.want({ folded: new Set([...this.wish.folded, place.key]) });
      return;
    }
    const { parent } = this.lines.agents.get(place.key) ?? {};
    if (typeof parent === 'string') this.select(place.session, parent);
  }

  /** Where nothing is folded, to the first that works for it. */
  unfold(): void {
    const at = this.selectedAt();
    const place = this.placeAt(at);
    if (place === undefined) return;
    if (place.below.length > 0) {
      this.want({ folded: new Set([...this.wish.folded].filter((key) => key !== place.key)) });
    } else if (place.isParent) this.choose(this.placeAt(at + 1));
  }

  toggle(): void {
    const place = this.placeAt(this.selectedAt());
    if (place !== undefined && place.below.length > 0) this.unfold();
    else if (place?.isParent === true) this.fold();
  }

  /** All that others work for, but the leads; or none, when some are folded. */
  toggleAll(): void {
    const parents = this.swarms.flatMap(({ session, agents }) =>
      agents.flatMap(({ parent }) =>
        parent === null || parent === session.lead ? [] : [keyOf(session.id, parent)],
      ),
    );
    this.want({ folded: new Set(this.wish.folded.size > 0 ? [] : parents) });
  }

  cycleOrder(): void {
    this.want({ order: after(ORDERS, this.wish.order), isReversed: false });
  }

  reverse(): void {
    this.want({ isReversed: !this.wish.isReversed });
  }

  cycleFilter(): void {
    this.want({ filter: after(FILTERS, this.wish.filter) });
  }

  search(text: string): void {
    this.want({ text });
  }

  /** The first that was looked for, unless one of them is selected. */
  selectFound(): void {
    const { places } = this.lines;
    const isFound = (place: Place | undefined) => place?.agent !== undefined && !place.isPassedBy;
    if (!isFound(this.placeAt(this.selectedAt()))) this.choose(places.find(isFound));
  }

  showAll(): void {
    this.want({ filter: 'all', text: '' });
  }

  private choose(place: Place | undefined): void {
    if (place?.agent !== undefined) this.select(place.session, place.agent);
  }

  private want(wish: Partial<Wish>): void {
    this.lines.wish = { ...this.wish, ...wish };
    this.look(true);
    this.changedNow();
  }

  /** The selected line keeps its place on the screen where it can. */
  look(isAsked: boolean): void {
    this.lines.look(this.source.swarms(), isAsked, (arrange) => {
      const row = this.selectedAt() - this.top;
      arrange();
      const at = this.selectedAt();
      this.top = Math.max(0, at - row);
      const { agent, session = '' } = this.placeAt(at) ?? {};
      if (agent !== undefined) this.chosen ??= { session, agent };
    });
  }

  private scrollTo(at: number): void {
    const last = Math.max(0, this.lines.places.length - this.height);
    const lowest = Math.max(0, at - this.height + 1);
    // The line of a swarm comes along with its first agent.
    const isBelowLine = at > 0 && this.placeAt(at - 1)?.agent === undefined;
    const highest = isBelowLine && this.height > 1 ? at - 1 : at;
    this.top = Math.min(last, Math.max(lowest, Math.min(highest, this.top)));
  }

  /** Of one that is not shown: the nearest that it works for, else whoever stands there now. */
  private selectedAt(): number {
    const { session = '', agent = '' } = this.chosen ?? {};
    const at = this.find(keyOf(session, agent));
    if (at !== -1) {
      this.lastAt = at;
      return at;
    }
    const { agents, places } = this.lines;
    let above = agents.get(keyOf(session, agent))?.parent ?? null;
    for (let step = 0; above !== null && step < agents.size; step += 1) {
      const shown = this.find(keyOf(session, above));
      if (shown !== -1) return shown;
      above = agents.get(keyOf(session, above))?.parent ?? null;
    }
    const near = Math.min(this.lastAt, places.length - 1);
    const isAgent = (place: number) => this.placeAt(place)?.agent !== undefined;
    const nearest = [near, near + 1, near - 1].find(isAgent);
    return (
      nearest ??
      Math.max(
        0,
        places.findIndex((place) => place.agent !== undefined),
      )
    );
  }

  private find(key: string): number {
    if (this.placeAt(this.lastAt)?.key === key) return this.lastAt;
    return this.lines.places.findIndex((place) => place.key === key);
  }

  private placeAt(at: number): Place | undefined {
    return this.lines.places[at];
  }

  private swarmOf(session: string): SwarmView | undefined {
    return this.swarms.find((swarm) => swarm.session.id === session);
  }
}

const after = <Value>(values: readonly Value[], value: Value): Value =>
  values[(values.indexOf(value) + 1) % values.length] ?? value;
