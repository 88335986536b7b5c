/**
 * Failures that several agents have met with the very same call: what one cannot do the others cannot do
 * either, and nobody but the swarm knows that it was tried. Any other result of the call ends the row.
 */

/** So many calls are remembered, those that failed last. */
const MOST_CALLS = 256;
/** More agents than that are not told apart. */
const MOST_AGENTS = 64;

interface Row {
  readonly result: string;
  readonly agents: Set<string>;
}

export class CommonFailures {
  private readonly rows = new Map<string, Row>();

  /** How many agents in a row, this one included, have met this failure. */
  count(agent: string, call: string, result: string): number {
    const known = this.rows.get(call);
    const row = known?.result === result ? known : { result, agents: new Set<string>() };
    if (row.agents.size < MOST_AGENTS) row.agents.add(agent);
    // The newest last.
    this.rows.delete(call);
    this.rows.set(call, row);
    for (const oldest of this.rows.keys()) {
      if (this.rows.size <= MOST_CALLS) break;
      this.rows.delete(oldest);
    }
    return row.agents.size;
  }

  /** It did not fail. */
  forget(call: string): void {
    this.rows.delete(call);
  }
}
