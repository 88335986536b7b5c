/** Observer: a server that records when a request arrives and never answers. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Observer {
  readonly url: string;
  /** Resolves with the time at which the next request arrives. */
  arrival(): Promise<number>;
  close(): void;
}

export const startObserver = async (): Promise<Observer> => {
  let onArrival: ((at: number) => void) | undefined;
  const server = createServer((request) => {
    onArrival?.(performance.now());
    request.resume();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrival: () =>
      new Promise((resolve) => {
        onArrival = resolve;
      }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
};
