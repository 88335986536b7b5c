/** Many sequences as one: the earliest of their next items comes first, and each keeps its own order. */

interface Head<Item> {
  item: Item;
  readonly rest: Iterator<Item, void>;
}

/** Takes the logarithm of the number of sequences per item: there may be a thousand. */
export function* merge<Item>(
  sequences: readonly Iterator<Item, void>[],
  isEarlier: (one: Item, other: Item) => boolean,
): Generator<Item, void> {
  const heap: Head<Item>[] = [];
  const isBefore = (one: number, other: number) => {
    const [first, second] = [heap[one], heap[other]];
    return first !== undefined && (second === undefined || isEarlier(first.item, second.item));
  };
  const swap = (one: number, other: number) => {
    const [first, second] = [heap[one], heap[other]];
    if (first === undefined || second === undefined) return;
    heap[one] = second;
    heap[other] = first;
  };
  const rise = (from: number) => {
    for (let at = from; at > 0; ) {
      const above = (at - 1) >> 1;
      if (!isBefore(at, above)) return;
      swap(at, above);
      at = above;
    }
  };
  const sink = () => {
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const below = isBefore(right, left) ? right : left;
      if (!isBefore(below, at)) return;
      swap(at, below);
      at = below;
    }
  };
  for (const rest of sequences) {
    const { done, value } = rest.next();
    if (done === true) continue;
    heap.push({ item: value, rest });
    rise(heap.length - 1);
  }
  for (let head = heap[0]; head !== undefined; head = heap[0]) {
    yield head.item;
    const { done, value } = head.rest.next();
    if (done === true) {
      swap(0, heap.length - 1);
      heap.pop();
    } else head.item = value;
    sink();
  }
}
