/** A binary heap of numbers: adds a number, and takes the least, in logarithmic time. */
export class PositionHeap {
  private readonly items: number[] = [];

  get least(): number | undefined {
    return this.items[0];
  }

  add(position: number): void {
    const { items } = this;
    let at = items.push(position) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (this.at(above) <= position) break;
      items[at] = this.at(above);
      at = above;
    }
    items[at] = position;
  }

  takeLeast(): number | undefined {
    const { items, least } = this;
    const last = items.pop();
    if (last !== undefined && items.length > 0) this.sink(last);
    return least;
  }

  /** Puts an item at the top and moves it down to its position. */
  private sink(item: number): void {
    const { items } = this;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const lesser = this.at(left + 1) < this.at(left) ? left + 1 : left;
      if (this.at(lesser) >= item) break;
      items[at] = this.at(lesser);
      at = lesser;
    }
    items[at] = item;
  }

  private at(index: number): number {
    return this.items[index] ?? Number.POSITIVE_INFINITY;
  }
}
