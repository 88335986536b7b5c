/**
 * Yields the ancestors of a node, nearest first. Ends at a node without a parent. Parent links that
 * come from disk may form a cycle, so the walk also ends before a node that it has visited.
 */
export function* ancestorsOf<Node>(
  start: Node,
  parentOf: (node: Node) => Node | null | undefined,
): Generator<Node, void> {
  const visited = new Set([start]);
  for (let node = parentOf(start); node != null && !visited.has(node); node = parentOf(node)) {
    visited.add(node);
    yield node;
  }
}
