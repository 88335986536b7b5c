/**
 * Common failures: counts the agents of a swarm that failed in a row with the same call and the
 * same result. Any other result of the call resets its count.
 */

/** Maximum remembered calls; the calls that failed longest ago are forgotten. */
const MAX_CALLS = 256;
/** Maximum counted agents per call. */
const MAX_AGENTS = 64;

interface Row {
  readonly result: string;
  readonly agents: Set<string>;
}

export class CommonFailures {
  private readonly rows = new Map<string, Row>();

  /** Records the failure. Returns the number of agents in a row with it, `agent` included. */
  count(agent: string, call: string, result: string): number {
    const current = this.rows.get(call);
    const row = current?.result === result ? current : { result, agents: new Set<string>() };
    if (row.agents.size < MAX_AGENTS) row.agents.add(agent);
    // Insert again, because the map keeps the newest failure last.
    this.rows.delete(call);
    this.rows.set(call, row);
    for (const oldest of this.rows.keys()) {
      if (this.rows.size <= MAX_CALLS) break;
      this.rows.delete(oldest);
    }
    return row.agents.size;
  }

  /** Resets the count of a call that did not fail. */
  forget(call: string): void {
    this.rows.delete(call);
  }
}
