/**
 * The beta headers of a session (K8). What was sent once is sent with every later request, also by
 * another process: a server caches by them, and one that comes and goes would void the prefix.
 */
export class BetaLatch {
  private readonly sent = new Set<string>();

  /** A request was sent with these. */
  take(betas: readonly string[] = []): void {
    for (const beta of betas) this.sent.add(beta);
  }

  takeOver(other: BetaLatch): void {
    this.take([...other.sent]);
  }

  /** What the next request is sent with: those of every request before, and those wanted now. */
  with(wanted: readonly string[]): readonly string[] {
    return [...new Set([...this.sent, ...wanted])].sort();
  }
}
