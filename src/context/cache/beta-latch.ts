/**
 * Beta headers of a session. A header that was sent once is sent with every later request,
 * also by another process, because the server caches by headers and a missing header would void the
 * prefix.
 */
export class BetaLatch {
  private readonly sent = new Set<string>();

  /** Records the headers of a request. */
  record(betas: readonly string[] = []): void {
    for (const beta of betas) this.sent.add(beta);
  }

  copyFrom(other: BetaLatch): void {
    this.record([...other.sent]);
  }

  /** Returns the headers of the next request: all recorded headers and `headers`, sorted. */
  with(headers: readonly string[]): readonly string[] {
    return [...new Set([...this.sent, ...headers])].sort();
  }
}
