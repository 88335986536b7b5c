/** Real web server on this machine that records its requests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface WebServer {
  readonly port: number;
  readonly url: string;
  readonly asked: IncomingMessage[];
  /** Open connections. */
  readonly open: ReadonlySet<Socket>;
}

export const webServer = async (handler: Handler): Promise<WebServer> => {
  const asked: IncomingMessage[] = [];
  const open = new Set<Socket>();
  const server = createServer((request, response) => {
    asked.push(request);
    handler(request, response);
  });
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}`, asked, open };
};

/** Answers with the body. Default type: HTML. */
export const sends =
  (body: string | Uint8Array, headers: Record<string, string> = {}, status = 200): Handler =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body);
  };
