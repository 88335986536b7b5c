/** A server that notes when a request arrives, and never answers it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Observer {
  readonly url: string;
  /** Resolves with the time at which the next request arrives. */
  arrival(): Promise<number>;
  close(): void;
}

export const startObserver = async (): Promise<Observer> => {
  let arrived: ((at: number) => void) | undefined;
  const server = createServer((request) => {
    arrived?.(performance.now());
    request.resume();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrival: () =>
      new Promise((resolve) => {
        arrived = resolve;
      }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
};
